"""Does every input that moves the reference's result move the claim's?

An element whose right value moves by more than twice the tolerance, while the claim returns the same bits for both
inputs, is wrong for one of them. A result must also be right for other values of a constant tensor that every draw
makes alike. Where discriminating inputs are known, each input is changed among those.
A fixed input, such as ones, zeros, a table or a number, is redrawn, and each is scaled until the reference moves. A
result that follows a number and is far off for another one is a hint. An input that never moves the reference is listed
as not tested, and so is a whole number of which another makes the call raise or return another shape. A tensor of one
whole number above 1, such as equal lengths, gets smaller ones in half of its places, and an input whose rows ascend or
descend in every draw, or that is symmetric, the same numbers in another order; what is wrong then is a hint.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from audit.model.errors import Unsupported
from audit.probes.concluding.answer import Answer, Observed, failed, grade_beside, label, passed
from audit.probes.concluding.compare import FAR
from audit.probes.concluding.undefined import undefined_beside
from audit.probes.observing.battery import at_middle, too_large
from audit.probes.observing.called import SessionBroken, alike, value_calls
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.probes.observing.variations import APART, COUNTS, DISCRIMINATING, WHOLE_NUMBER, Variation, wanted
from audit.run.calls import correctness

NAME = "dead_inputs"

NUMBER = "number"
ALWAYS_ALIKE = ("table", COUNTS, WHOLE_NUMBER)
"""Kinds of inputs that a kernel may know without reading them: a table that every draw makes alike, of cosines or a
mask for instance, a number that gives the amount of work, and equal lengths."""
FIXED = ("constant", "table", COUNTS, NUMBER)
"""Kinds of inputs that every draw makes alike, other than whole numbers."""
ORDERED = {"ascending": "ascending rows", "descending": "descending rows", "symmetric": "symmetric matrices"}
"""Structures of an input that the same numbers lack in another order, in words."""
NOT_TESTED = "no other value that was tried moves the right result"
NO_SUCH_SHAPE = "the call returned another shape than the reference"
LEAST_SHARE = 0.01
"""The share of elements that may keep their bits by chance, where a result is rounded to few bits."""


def observe(target: Target) -> Observed:
    """Make one call for each input at the middle case, with that input alone replaced."""
    asked, varied = at_middle(target), wanted(target).middle
    if (skipped := too_large("inputs", target, asked["first"])) is not None:
        return skipped
    first = asked.get(DISCRIMINATING, asked["first"])
    value_calls([first.call], [first.case.expected])
    made = {one.name: one for one in varied.of("inputs")}
    for kind in APART:
        asked = {**asked, **_apart(target, [one for one in varied.of("inputs") if one.kind == kind])}
    rows = {name: _row(target, first, asked[name], made[name]) for name in varied.inputs if name in asked}
    found = [row for row in rows.values() if row.get("elements_moved")]
    untested = [name for name in varied.inputs if not rows.get(name, {}).get("elements_moved")]
    found += [{"input": name, "not_tested": rows.get(name, {}).get("not_tested", NOT_TESTED)} for name in untested]
    return {
        "shape": dict(first.case.shape),
        "inputs": found,
        **_orders(target, asked["first"], varied.of("reordered")),
        **({"discriminating": True} if first.what == DISCRIMINATING else {}),
        **({"undefined": undefined_beside(target, first.case)} if _counting(found) else {}),
    }


def conclude(seen: Observed) -> Answer:
    """Fail where the result does not follow an input."""
    shape = f"{label(seen['shape'])}: {'among discriminating inputs, ' if seen.get('discriminating') else ''}"
    if dead := _dead(seen["inputs"]):
        text = f"{shape}with other values in {_kept(dead[0])}{_too(dead[1:])}"
        if _must_move(dead):
            return failed(text, grade_beside(seen["undefined"]))
        return failed(f"{text}; every draw of the task gives the same {dead[0]['kind']} there", "hint")
    if wrong := sorted((row for row in seen["inputs"] if "elements_wrong" in row), key=lambda row: row["kind"]):
        text = f"{shape}with {_changed(wrong[0])}: {wrong[0]['elements_wrong']:,} elements wrong"
        if wrong[0]["kind"] == "constant":
            return failed(text, grade_beside(seen["undefined"]))
        return failed(f"{text}; every draw of the task gives the same {wrong[0]['kind']} there", "hint")
    if wrong := [row for row in seen.get("orders", ()) if row.get("elements_wrong")]:
        return failed(f"{label(seen['shape'])}: {_in_order(wrong[0])}", "hint")
    untested = [_words(row["input"]) for row in seen["inputs"] if "not_tested" in row]
    text = f"{shape}the result follows every input that the reference follows ({len(seen['inputs']) - len(untested)})"
    return passed(text + (f"; not tested: {', '.join(untested)}" if untested else ""))


def _changed(row: Observed) -> str:
    """Return the change of an input in words; of a number, both of its values."""
    values = row["how"] if row["kind"] == NUMBER else "other values"
    return f"{values} in {_words(row['input'])}"


def _in_order(row: Observed) -> str:
    right = f"{_words(row['input'])}: right for {ORDERED[row['order']]}, which every draw of the task has"
    return f"{right}; with the same numbers in another order {row['elements_wrong']:,} elements wrong"


def keeps_all(row: Mapping[str, Any]) -> bool:
    """Return whether nearly all elements that must move with an input keep their bits, by its row of the evidence."""
    dead, moved = row.get("elements_dead", 0), row.get("elements_moved", 0)
    return row.get("right") is False and dead >= (1 - LEAST_SHARE) * moved


def _dead(rows: list[Observed]) -> list[Observed]:
    """Return the inputs with elements that must move and do not; first those that the result must follow, and of these
    the ones with which nearly none moves."""
    dead = (row for row in rows if row.get("right") is False)
    return sorted(dead, key=lambda row: (row["kind"] in ALWAYS_ALIKE, not keeps_all(row)))


def _kept(row: Observed) -> str:
    counts = f"{row['elements_moved']:,} elements must move, {row['elements_dead']:,} keep their bits"
    return f"{_words(row['input'])}: {counts}"


def _too(rows: list[Observed]) -> str:
    """Return the other inputs in words, with the numbers of those with which some elements move."""
    alike = ", ".join(_words(row["input"]) for row in rows if keeps_all(row))
    parts = "".join(f"; in {_kept(row)}" for row in rows if not keeps_all(row))
    return (f"; so too in {alike}" if alike else "") + parts


def _counting(rows: list[Observed]) -> bool:
    """Return whether the result does not follow an input that it must follow, or is wrong for it."""
    return _must_move(_dead(rows)) or any(row["kind"] == "constant" for row in rows if "elements_wrong" in row)


def _must_move(dead: list[Observed]) -> bool:
    return bool(dead) and dead[0]["kind"] not in ALWAYS_ALIKE


def _apart(target: Target, changed: Sequence[Variation]) -> dict[str, Asked]:
    """Make calls at which a kernel may crash that is made for the task's draws, in a process of their own."""
    if not changed:
        return {}
    cases = [one.case for one in changed]
    try:
        plan = [{"run": "claim", "case": index} for index in range(len(cases))]
        calls = target.steps(plan, cases=cases, mode=target.plain, fresh=True)
    except (SessionBroken, Unsupported):
        return {}
    return {one.name: Asked(one.name, one.case, call, "inputs") for one, call in zip(changed, calls, strict=True)}


def _orders(target: Target, first: Asked, made: list[Variation]) -> Observed:
    """Return the number of elements that are far off with the numbers of an input in another order than in all draws,
    by the input, as the only key; empty where the first call is wrong too, or the structure of no input is an order."""
    if not made or not first.compared(target).right:
        return {}
    asked = _apart(target, made)
    rows = [{"input": one.name.removeprefix("reordered_"), "order": one.how, **_far_off(target, asked.get(one.name))}
            for one in made]  # fmt: skip
    return {"orders": rows}


def _far_off(target: Target, changed: Asked | None) -> Observed:
    """Return the number of elements that are off by FAR times the tolerance; the reason where a call gives none."""
    if changed is None or changed.call.raised is not None:
        return {"not_tested": "refused" if changed is None else f"refused: {changed.call.raised}"}
    if not alike(changed.call.event.get("shape"), changed.case.expected.shape):
        return {"not_tested": NO_SUCH_SHAPE}
    tolerance = target.tolerance.model_copy(update={"relative": FAR * target.relative(changed.case)})
    return {"elements_wrong": target.compared_within(tolerance, changed.call, changed.case).elements_wrong}


def _row(target: Target, first: Asked, changed: Asked, made: Variation) -> Observed:
    if changed.call.raised is not None:
        return {"input": changed.what, "not_tested": f"refused: {changed.call.raised}"}
    try:
        value_calls([changed.call], [changed.case.expected])
    except SessionBroken as error:
        if made.kind in APART:
            return {"input": changed.what, "not_tested": f"{made.how}: {NO_SUCH_SHAPE}"}
        what = str(error).partition("; see contract")[0]
        raise SessionBroken(f"with other values in {_words(changed.what)} ({made.how}), {what}") from None
    moved, unmoved = _counts(target, first, changed)
    return {
        "input": changed.what,
        "how": made.how,
        "kind": made.kind,
        "elements_moved": moved,
        "elements_dead": unmoved,
        "right": unmoved <= LEAST_SHARE * moved,
        **_wrong(target, changed, made.kind),
    }


def _wrong(target: Target, changed: Asked, kind: str) -> Observed:
    """Return the number of elements that are far off for other values of a fixed input; empty where none is."""
    if kind not in FIXED or changed.compared(target).right:
        return {}
    wrong = _far_off(target, changed)
    return wrong if wrong["elements_wrong"] else {}


def _counts(target: Target, first: Asked, changed: Asked) -> tuple[int, int]:
    """Return the number of elements that must move with that input, and of those that did not."""
    was, now = first.case.expected, changed.case.expected
    if was.shape != now.shape or not np.isfinite(now).any():
        return 0, 0
    relative = target.relative(first.case)
    least = max(first.case.size, changed.case.size, correctness.least_scale(first.case.dtype, relative))
    moved = correctness.moved(was, now, relative=relative, least_scale=least).reshape(-1)
    written = np.isfinite(first.call.values()).reshape(
        -1
    )  # NaN is the pattern of fresh memory; an unwritten element is not dead
    same = written & (first.call.raw() == changed.call.raw()).all(axis=1)
    return int(np.count_nonzero(moved)), int(np.count_nonzero(moved & same))


def _words(variation: str) -> str:
    """Return `input_0_weight` as `input 0 (weight)`."""
    _, index, *name = variation.split("_", 2)
    return f"input {index} ({name[0]})" if name else f"input {index}"
