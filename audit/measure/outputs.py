"""Were the outputs right while the clock ran? Kept outputs against the oracle, the others as the session saw them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.measure.comparison import PREFIX, RANKS, TIMED_OUTPUTS, precision_of
from audit.model import Claim, Finding, Measurement, Tolerance
from audit.probes import channel
from audit.probes.answer import Answer, Seen, failed, finding, passed
from audit.probes.called import Call, ProtocolViolated, SessionBroken, alike
from audit.probes.cases import Case
from audit.probes.compare import Array, Output, Right, compare, sentence
from audit.probes.precision import FLOAT32_BITS, class_of
from audit.run import correctness

THREADS = 8


def verified(events: Sequence[dict[str, Any]], cases: Sequence[Case], claim: Claim, folder: Path) -> list[Finding]:
    """One finding a callable about all of its kept outputs; where one was changed since, about that.

    Args:
        events: as the timing process reported them: `variant`, `inputs` (number of the case), `block`, `whole` (its
            shape), `rows` (those kept, None for all), `file`, `shape`, `dtype`; or `no_tensor`.
        cases: the cases by that number.
        claim: whose tolerances hold. A baseline is held to that of its precision class.
        folder: where the files are.
    """
    with ThreadPoolExecutor(THREADS) as threads:
        results = list(threads.map(lambda event: _compared(event, cases, claim, folder), events))
    by_name: dict[str, list[dict[str, Any]]] = {}
    violations: dict[str, list[str]] = {}
    for event, result in zip(events, results, strict=True):
        if isinstance(result, ProtocolViolated):
            violations.setdefault(event["variant"], []).append(str(result))
        else:
            row = {"block": event["block"], "inputs": event["inputs"], **result}
            by_name.setdefault(event["variant"], []).append(row)
    left = {name: rows for name, rows in by_name.items() if name not in violations}
    found = [finding(TIMED_OUTPUTS, name, {"calls": rows}, conclude) for name, rows in left.items()]
    return [*found, *(channel.finding(name, seen) for name, seen in violations.items())]


def tolerance_of(claim: Claim, name: str) -> Tolerance:
    """The tolerance of a callable by its name; a baseline that rounds has the widest of the variants that do."""
    if not name.startswith(PREFIX):
        return next((claim.tolerance_of(one) for one in claim.variant if one.name == name), claim.tolerance)
    rank = RANKS[precision_of(name)]
    same = [claim.tolerance_of(one) for one in claim.variant if RANKS[one.precision] == rank < RANKS["fp32"]]
    return max(same, key=lambda one: one.relative, default=claim.tolerance)


def _compared(
    event: dict[str, Any], cases: Sequence[Case], claim: Claim, folder: Path
) -> dict[str, Any] | ProtocolViolated:
    """How one call's output compares with its effective bits, what else it is, or that it is not what was told."""
    if "no_tensor" in event:
        return {"right": False, "why": f"returned no tensor but {event['no_tensor']}"}
    case = cases[event["inputs"]]
    if not alike(event["whole"], case.expected.shape):
        return {"right": False, "why": f"returned a tensor of shape {event['whole']}"}
    try:
        want, *also = (_part(one, event) for one in (case.expected, *case.also))
        got = Call(event, folder / event["file"]).values()
    except ProtocolViolated as seen:
        return seen
    except SessionBroken as seen:
        return {"right": False, "why": str(seen)}
    right = Right(want, case.dtype, tuple(also), _kept_of(case, event["rows"]))
    found = compare(got, right, tolerance_of(claim, event["variant"]), least_scale=case.least(0.0)).evidence()
    if case.outputs or case.dtype != "float32":
        return found
    bits = correctness.effective_bits(got.astype(np.float64).reshape(want.shape), want)
    return found | {"bits": None if bits is None else round(bits, 2)}


def _kept_of(case: Case, rows: Sequence[int] | None) -> tuple[Output, ...]:
    """Several outputs with the elements that were kept of each; `rows` are places in the vector of all."""
    if rows is None:
        return case.outputs
    ends = np.searchsorted(rows, np.cumsum([0, *(one.elements for one in case.outputs)]))
    return tuple(replace(one, shape=(int(count),)) for one, count in zip(case.outputs, np.diff(ends), strict=True))


def _part(expected: Array, event: dict[str, Any]) -> Array:
    """What is right for the rows that were kept. Raises ProtocolViolated where the report of them does not fit."""
    whole = expected.reshape(event["whole"])
    try:
        part = whole if event["rows"] is None else whole[event["rows"]]
    except IndexError:
        raise ProtocolViolated("rows of an output were told that it has not") from None
    if event["shape"] != list(part.shape):
        raise ProtocolViolated("the kept part of an output has another shape than its rows")
    return part


SHOWN_ALIKE = {"split_fp16": "fp32", "fp16": "tf32"}
"""Classes that keep as many bits as others and differ in range: where the bits are those, the name decides."""


def classed(
    measurements: Sequence[Measurement], findings: Iterable[Finding], bits: Mapping[str, float | None]
) -> list[Measurement]:
    """The measurements, those of a baseline with the precision class that its kept outputs show.

    Args:
        measurements: of one session.
        findings: about its kept outputs.
        bits: effective ones of the oracle with inputs rounded to `tf32`, `fp16` and `bf16`; without them no class.
    """
    known = {name: value for name, value in bits.items() if value is not None} | {"fp32": FLOAT32_BITS}
    if not {"tf32", "fp16", "bf16"} <= known.keys():
        return list(measurements)
    kept = [one for one in findings if one.probe == TIMED_OUTPUTS and one.target.startswith(PREFIX)]
    shown = {one.target: _class_shown(one, known) for one in kept}
    return [one.model_copy(update={"precision": shown.get(one.variant)}) for one in measurements]


def _class_shown(kept: Finding, known: dict[str, float]) -> str | None:
    seen: Seen = dict(kept.evidence)
    found = [row["bits"] for row in seen.get("calls", []) if row.get("bits") is not None]
    shown = class_of(min(found), known) if found else None
    named = precision_of(kept.target)
    return named if shown is not None and SHOWN_ALIKE.get(named, named) == shown else shown


def conclude(seen: Seen) -> Answer:
    """Right in the timed calls that were kept and in all that the session compared, or wrong in one of them."""
    if "every_call" not in seen:
        return _of_kept(seen["calls"])
    kept = _of_kept(seen["calls"]) if "calls" in seen else None
    if kept is not None and kept.outcome == "fail":
        return kept
    answers, first = seen["every_call"], seen["every_call"]["first"]
    if not answers["wrong"]:
        text = f"{kept.summary}; " if kept else ""
        text += f"right in each of {answers['calls']} timed calls, for contents of its own"
        result = seen["contents"]["told_apart"]
        return passed(text + ("" if result else "; other contents do not change the result, so a kept one is not told"))
    why = first.get("why") or f"{first['elements_wrong']:,} of {first['elements']:,} elements wrong"
    where = f"wrong in {answers['wrong']} of {answers['calls']} timed calls; in block {first['block']}: {why}"
    if answers["drawn_wrong"]:
        return failed(where)
    return Answer(
        "error", f"{where}; right with contents as they are drawn, wrong with mixed ones, so nothing is concluded"
    )


def _of_kept(calls: list[Seen]) -> Answer:
    wrong = [one for one in calls if not one["right"]]
    if not wrong:
        return passed(f"right in {len(calls)} timed calls chosen at random")
    why = wrong[0].get("why") or sentence(wrong[0])
    text = f"wrong in {len(wrong)} of {len(calls)} timed calls chosen at random"
    return failed(f"{text}; in block {wrong[0]['block']}: {why}")


EAGER = f"{PREFIX}eager"
"""Computes what the others are held against. Where it is not right itself, from call to call, nothing follows."""


def every_call(events: Iterable[dict[str, Any]], kept: Sequence[Finding]) -> list[Finding]:
    """The findings about kept outputs, each with what the session saw of all other calls of its callable.

    Args:
        events: of a timing session; see `audit.run.answers`.
        kept: findings about the outputs that were held against the oracle, one a callable.
    """
    found = list(events)
    contents = next((one["contents"] for one in found if isinstance(one.get("contents"), dict)), None)
    answers = {one["answered"]: one for one in found if "answered" in one}
    if contents is None or not answers or answers.get(EAGER, {}).get("wrong"):
        return list(kept)
    about = {one.target: one for one in kept if one.probe == TIMED_OUTPUTS}
    beside = [one for one in kept if one.target not in answers or one.probe != TIMED_OUTPUTS]
    return [*(_of_every_call(name, one, contents, about.get(name)) for name, one in answers.items()), *beside]


def _of_every_call(name: str, answers: dict[str, Any], contents: dict[str, Any], kept: Finding | None) -> Finding:
    numbers = {key: answers[key] for key in ("calls", "wrong", "drawn", "drawn_wrong", "first")}
    seen = {**(kept.evidence if kept else {}), "every_call": numbers, "contents": contents}
    return finding(TIMED_OUTPUTS, name, seen, conclude)
