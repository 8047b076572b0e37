"""Is the result right for other inputs than those a benchmark draws: uniform, sorted, constant, heavy-tailed, huge?

Only where the reference itself, and one that rounds its inputs to the declared precision, stays well inside the
tolerance. Wrong only beyond the range of half precision is a hint: a kernel may be made for ordinary numbers. So is an
error of less than ten times the tolerance, which was chosen for the benchmark's own inputs: a plain sum of equal
numbers is off by more than one of drawn numbers is, and by more than the reference's sum of sums.
"""

from __future__ import annotations

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.battery import Asked, at_middle, premise, too_large
from audit.probes.compare import Comparison, compare, rms
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside
from audit.probes.variations import DISCRIMINATING

NAME = "distributions"
MECHANISMS = (
    "magnitude dispatch",
    "structure truncation",
    "law of large numbers",
    "pass-through of inputs that are almost the output",
    "fast path for the check's inputs",
    "task that cannot tell at its own inputs",
)
OUTSIDE_HALF = ("large", "tiny")
"""Distributions that half precision cannot hold."""
FAR = 10
"""A result so many times farther off than it may be was not rounded but computed otherwise."""


def run(target: Target) -> Finding:
    """One call a distribution at the middle case; what is wrong is asked again alone in a fresh process."""
    asked = at_middle(target)
    if (skipped := premise(NAME, target, asked["first"])) is not None:
        return skipped
    if DISCRIMINATING not in asked and (skipped := too_large(NAME, target, asked["first"])) is not None:
        return skipped
    scale = rms(asked["first"].case.expected)
    drawn = [one for one in asked.values() if one.group == NAME]
    results = {one.what: None if one.call.raised else _compared(target, one, scale) for one in drawn}
    wrong = [one for one in drawn if (got := results[one.what]) is not None and not got.right]
    calls = {one.what: _again(target, one) for one in wrong}
    alone = {name: again for name, call in calls.items() if not (again := _compared(target, call, scale)).right}
    far = {name for name in alone if _far(target, calls[name], scale)}
    told: list[JsonValue] = [_told(one, results[one.what], alone.get(one.what)) for one in drawn]
    evidence: dict[str, JsonValue] = {
        "shape": dict(asked["first"].case.shape),
        "distributions": told,
        "discriminating": DISCRIMINATING in results,
    }
    label = asked["first"].case.label
    if not alone:
        told_apart = ", discriminating inputs among them" if DISCRIMINATING in results else ""
        text = f"{label}: right for {len(drawn)} other distributions{told_apart}"
        return answer(NAME, target, "pass", text, evidence=evidence)
    name = min(alone, key=lambda name: (name in OUTSIDE_HALF, name not in far))
    text = f"{label}: {name.replace('_', ' ')} inputs: {alone[name].sentence()}"
    text += "" if name in far else f"; all within {FAR} times what they may be off, which rounding can explain"
    grade = _grade(target, asked["first"], name) if name in far else "hint"
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence)


def _compared(target: Target, one: Asked, scale: float) -> Comparison:
    return one.compared(target, least_scale=_least(one, scale))


def _again(target: Target, one: Asked) -> Asked:
    (call,) = target.session(["claim"], cases=[one.case], memory=target.built.nan_memory, fresh=True)
    return Asked(one.what, one.case, call)


def _far(target: Target, one: Asked, scale: float) -> bool:
    wider = target.tolerance.model_copy(update={"relative": FAR * target.tolerance.relative})
    return not compare(one.call.values(), one.case.expected, wider, least_scale=_least(one, scale)).right


def _least(one: Asked, scale: float) -> float:
    """Where a result is zero or nearly so by cancellation, the usual size of a result counts."""
    return 0.0 if one.what in OUTSIDE_HALF else scale


def _grade(target: Target, first: Asked, name: str) -> Grade:
    if name in OUTSIDE_HALF:
        return "hint"
    return "undefined" if undefined_beside(target, first.case) else "proved"


def _told(one: Asked, result: Comparison | None, alone: Comparison | None) -> JsonValue:
    if result is None:
        return {"distribution": one.what, "refused": one.call.raised}
    return {"distribution": one.what, **(alone or result).evidence(), "right": alone is None}
