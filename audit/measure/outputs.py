"""Were the outputs of timed calls right? Compare kept outputs with the oracle; the session compared all others."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from audit.measure.comparison import PREFIX, RANKS, TIMED_OUTPUTS, precision_of
from audit.model import Claim, Finding, Measurement, Tolerance
from audit.probes.concluding.answer import Answer, Observed, failed, finding, not_sent, passed
from audit.probes.concluding.compare import Array, Output, Right, compare, sentence
from audit.probes.observing.called import Call, ProtocolViolated, SessionBroken, alike
from audit.probes.observing.cases import Case
from audit.probes.precision import FLOAT32_BITS, class_of
from audit.run.calls import correctness

THREADS = 8


def verified(events: Sequence[dict[str, Any]], cases: Sequence[Case], claim: Claim, folder: Path) -> list[Finding]:
    """Return one finding a callable about all of its kept outputs in the folder, or about a changed file.

    Events are those of the timing process: `variant`, `inputs` (the number of the case), `block`, `whole` (the shape),
    `rows` (pieces of those kept, each its first row and the row behind its last; None for all), `file`, `shape`,
    `dtype`; or `no_tensor`. The claim has the tolerances; that of a
    baseline is by its precision class.
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
    return [*found, *(not_sent(name, seen) for name, seen in violations.items())]


def tolerance_of(claim: Claim, name: str) -> Tolerance:
    """Return the tolerance of a callable by its name; a baseline below fp32 has the widest of its class."""
    if not name.startswith(PREFIX):
        return next((claim.tolerance_of(one) for one in claim.variant if one.name == name), claim.tolerance)
    rank = RANKS[precision_of(name)]
    same = [claim.tolerance_of(one) for one in claim.variant if RANKS[one.precision] == rank < RANKS["fp32"]]
    return max(same, key=lambda one: one.relative, default=claim.tolerance)


def _compared(
    event: dict[str, Any], cases: Sequence[Case], claim: Claim, folder: Path
) -> dict[str, Any] | ProtocolViolated:
    """Compare one call's output, with its effective bits; return a violation if the file does not match its event."""
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


def _kept_of(case: Case, rows: Sequence[Sequence[int]] | None) -> tuple[Output, ...]:
    """Return several outputs with the number of kept elements of each; `rows` are pieces of the vector of all."""
    if rows is None or not case.outputs:
        return case.outputs
    kept = np.concatenate([np.arange(first, end) for first, end in rows])
    ends = np.searchsorted(kept, np.cumsum([0, *(one.elements for one in case.outputs)]))
    return tuple(replace(one, shape=(int(count),)) for one, count in zip(case.outputs, np.diff(ends), strict=True))


def _part(expected: Array, event: dict[str, Any]) -> Array:
    """Return the right result of the kept rows. Raises ProtocolViolated where the event does not match the shape."""
    whole, rows = expected.reshape(event["whole"]), event["rows"]
    edges = [0, *itertools.chain(*rows or ()), len(whole) if rows else 0]
    if edges != sorted(edges):
        raise ProtocolViolated("rows of an output were told that it has not")
    part = whole if rows is None else np.concatenate([whole[first:end] for first, end in rows])
    if event["shape"] != list(part.shape):
        raise ProtocolViolated("the kept part of an output has another shape than its rows")
    return part


SHOWN_ALIKE = {"split_fp16": "fp32", "fp16": "tf32"}
"""Classes with as many bits as others but another range: where those bits are measured, the name decides."""


def classed(
    measurements: Sequence[Measurement], findings: Iterable[Finding], bits: Mapping[str, float | None]
) -> list[Measurement]:
    """Return the measurements of one session, with the precision class of each baseline that its kept outputs showed.

    `bits` are effective bits of the oracle with inputs rounded to `tf32`, `fp16` and `bf16`; without them there is no
    class.
    """
    known = {name: value for name, value in bits.items() if value is not None} | {"fp32": FLOAT32_BITS}
    if not {"tf32", "fp16", "bf16"} <= known.keys():
        return list(measurements)
    kept = [one for one in findings if one.probe == TIMED_OUTPUTS and one.target.startswith(PREFIX)]
    shown = {one.target: _class_shown(one, known) for one in kept}
    return [one.model_copy(update={"precision": shown.get(one.variant)}) for one in measurements]


def _class_shown(kept: Finding, known: dict[str, float]) -> str | None:
    seen: Observed = dict(kept.evidence)
    found = [row["bits"] for row in seen.get("calls", []) if row.get("bits") is not None]
    shown = class_of(min(found), known) if found else None
    named = precision_of(kept.target)
    return named if shown is not None and SHOWN_ALIKE.get(named, named) == shown else shown


def conclude(seen: Observed) -> Answer:
    """Pass where the kept outputs and all that the session compared are right."""
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


def _of_kept(calls: list[Observed]) -> Answer:
    wrong = [one for one in calls if not one["right"]]
    if not wrong:
        return passed(f"right in {len(calls)} timed calls chosen at random")
    why = wrong[0].get("why") or sentence(wrong[0])
    text = f"wrong in {len(wrong)} of {len(calls)} timed calls chosen at random"
    return failed(f"{text}; in block {wrong[0]['block']}: {why}")


EAGER = f"{PREFIX}eager"
"""The callable that computes the right results of timed calls. Where it is wrong in one itself, nothing follows."""


def every_call(events: Iterable[dict[str, Any]], kept: Sequence[Finding]) -> list[Finding]:
    """Return the findings about kept outputs, one a callable, each with the session's counts of all calls of its
    callable from the session's events; see `audit.run.timing.answers`."""
    found = list(events)
    contents = next((one["contents"] for one in found if isinstance(one.get("contents"), dict)), None)
    answers = {one["answered"]: one for one in found if "answered" in one}
    if contents is None or not answers or answers.get(EAGER, {}).get("wrong"):
        return list(kept)
    about = {one.target: one for one in kept if one.probe == TIMED_OUTPUTS}
    others = [one for one in kept if one.target not in answers or one.probe != TIMED_OUTPUTS]
    return [*(_of_every_call(name, one, contents, about.get(name)) for name, one in answers.items()), *others]


def _of_every_call(name: str, answers: dict[str, Any], contents: dict[str, Any], kept: Finding | None) -> Finding:
    numbers = {key: answers[key] for key in ("calls", "wrong", "drawn", "drawn_wrong", "first")}
    seen = {**(kept.evidence if kept else {}), "every_call": numbers, "contents": contents}
    return finding(TIMED_OUTPUTS, name, seen, conclude)
