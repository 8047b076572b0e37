"""Is the result right for other inputs than those a benchmark draws: uniform, sorted, shifted, scaled, huge?

Asked only where the reference itself, also with inputs rounded to the declared precision, stays well within the
tolerance. A failure is a hint
- beyond the range of half precision, outside the range of the task's own draws, where that is bounded as for
  `torch.rand`, or between their whole numbers: a kernel may be made for ordinary numbers, or for pixels and labels;
- within ten times the tolerance, which was chosen for the benchmark's own inputs: a plain sum of equal numbers has a
  larger error than one of random numbers, and than the reference's sum of sums;
- at a mask with its columns in another order: a kernel may be made for masks that let a first part through;
- for a result of 16-bit numbers, at numbers a thousand times as large or small, or at fewer than one element in a
  thousand: its intermediate values may be such numbers too, whose roundings remain where they cancel;
- at shifted numbers, whose differences cancel, and within a twentieth of the result's size at sorted ones, whose rows
  are nearly constant; as an overflow at numbers a thousand times as large, at some hundred times as large with a heavy
  tail, and where every n-th is sixteen times as large; and as a zero at numbers a thousand times smaller, where the
  right result is one in half precision too.
Where rounded intermediate values move the right result by more than the tolerance, as in the variance of equal numbers,
that move replaces the tolerance.
An overflow at discriminating inputs answers nothing: they may leave the range of the task's draws, at which in turn the
task takes trivial candidates for right.
Inputs keep the structure that every draw has, ascending numbers or a symmetric matrix for instance, and a table that
every draw gives alike stays.
"""

from __future__ import annotations

import math

from audit.probes.concluding.answer import Answer, Observed, failed, grade_beside, label, passed
from audit.probes.concluding.compare import FAR, HALF, ROUNDED, Comparison, Scale, few_of_half, sentence
from audit.probes.concluding.undefined import undefined_beside
from audit.probes.observing.battery import at_largest, at_middle, premise, too_large
from audit.probes.observing.called import Call
from audit.probes.observing.cases import Case
from audit.probes.observing.planned import Asked
from audit.probes.observing.target import Target
from audit.probes.observing.variations import DISCRIMINATING, GRADED, ROUNDING, of_case

NAME = "distributions"
OUTSIDE_HALF = ("large", "tiny")
"""Distributions that half precision cannot represent."""
SHIFTED = ("offset", "far_offset")
"""Distributions in which numbers cancel: the usual one-pass variance loses digits there that the reference keeps."""
SCALED = ("thousandfold", "thousandth")
"""Middle ranges, in which a kernel that is sound for ordinary numbers may overflow."""
HEAVY_TAIL, SORTED, STRIDED = "heavy_tail", "sorted", "strided"
SLIGHT = 0.05
"""Of the result's size: what cancellation within rows of sorted numbers may take."""
LEAST_OF_HALF = 2.0**-24
"""The smallest positive number of half precision."""


REORDERED = "reordered_mask"


def observe(target: Target) -> Observed:
    """Compare one call a distribution at the middle case, and discriminating and graded inputs at the largest; ask
    about a wrong result again in a fresh process."""
    asked = at_middle(target)
    first = asked["first"]
    if (skipped := premise(target, first)) is not None:
        return skipped
    if DISCRIMINATING not in asked and (skipped := too_large(NAME, target, first)) is not None:
        return skipped
    drawn = [(one, _described(target, one, first)) for one in asked.values() if one.group == NAME]
    drawn += _at_the_largest(target, first)
    found = [entry for _, entry in drawn]
    seen: Observed = {
        "shape": dict(first.case.shape),
        "distributions": found,
        "discriminating": any(one.what == DISCRIMINATING for one, _ in drawn),
    }
    worst = _worst(found)
    if worst is None or _hinted(worst) or _open(worst):
        return seen
    return seen | {"undefined": undefined_beside(target, next(one.case for one, entry in drawn if entry is worst))}


def conclude(seen: Observed) -> Answer:
    """Fail at the worst distribution."""
    worst = _worst(seen["distributions"])
    if worst is None:
        told_apart = ", discriminating inputs among them" if seen["discriminating"] else ""
        return passed(f"{label(seen['shape'])}: right for {len(seen['distributions'])} other distributions{told_apart}")
    shape = (seen | worst)["shape"]
    text = f"{label(shape)}: {worst['distribution'].replace('_', ' ')} inputs: {sentence(worst)}"
    if _open(worst):
        return Answer("error", f"{text}; it may be made for smaller numbers, and at the task's own it cannot be told")
    text += "" if worst["far"] else f"; {ROUNDED}"
    return failed(text, "hint" if _hinted(worst) else grade_beside(seen["undefined"]), shape=shape)


def _at_the_largest(target: Target, middle: Asked) -> list[tuple[Asked, Observed]]:
    asked = at_largest(target)
    first = asked["first"]
    if first.case.inputs == middle.case.inputs or not first.compared(target).right:
        return []
    made = [asked[name] for name in (DISCRIMINATING, GRADED) if name in asked]
    return [(one, {**_described(target, one, first), "shape": dict(one.case.shape)}) for one in made]


def _described(target: Target, one: Asked, first: Asked) -> Observed:
    """Return the evidence about one call; a wrong one is repeated alone, and `far` is whether rounding cannot explain
    it. The scale of the `first` call of its case counts where cancellation brings a result near zero."""
    variation = of_case(target, one.case)
    values: Observed = {"distribution": one.what, **({"outside": True} if variation and variation.outside else {})}
    if one.call.raised:
        return {**values, "refused": one.call.raised}
    least = 0.0 if one.what in (*OUTSIDE_HALF, *SCALED) else first.case.usual
    rounding = (variation and variation.headroom[ROUNDING]) or 0.0  # by rounded intermediate values
    relative = max(target.relative(one.case), rounding)
    values |= {"relative": relative} if relative > target.relative(one.case) else {}
    result = _compared(target, one.call, one.case, relative, least)
    if result.right:
        return {**values, **result.evidence()}
    (call,) = target.session(["claim"], one.case, target.plain, fresh=True)
    alone = _compared(target, call, one.case, relative, least)
    if alone.right:
        return {**values, **result.evidence(), "right": True}
    values |= alone.evidence()
    if one.case.dtype in HALF and (one.what in SCALED or few_of_half(values, one.case.dtype)):
        values["half"] = True
    if one.what == SORTED and _compared(target, call, one.case, max(SLIGHT, relative), least).right:
        values["slight"] = True
    return {**values, "far": not _compared(target, call, one.case, FAR * relative, least).right}


def _compared(target: Target, call: Call, case: Case, relative: float, least_scale: Scale) -> Comparison:
    tolerance = target.tolerance.model_copy(update={"relative": relative})
    return target.compared_within(tolerance, call, case, least_scale=least_scale)


def _worst(found: list[Observed]) -> Observed | None:
    """Return the worst distribution: one that is neither out of range nor explained by rounding, if any."""
    wrong = [one for one in found if one.get("right") is False]
    return min(wrong, key=lambda one: (of_range(one), _open(one), not one["far"]), default=None)


def _hinted(wrong: Observed) -> bool:
    """Return whether range or rounding can explain the error in a kernel made for ordinary numbers."""
    return of_range(wrong) or not wrong["far"]


def of_range(wrong: Observed) -> bool:
    """Return whether the range of a distribution, or cancellation in it, can explain a wrong result."""
    what = wrong["distribution"]
    left_range = what in (*SCALED, HEAVY_TAIL, STRIDED) and (_overflowed(wrong) or _vanished(wrong))
    return (
        not {"outside", "half", "slight"}.isdisjoint(wrong)
        or what in (*OUTSIDE_HALF, *SHIFTED, REORDERED)
        or left_range
    )


def _open(wrong: Observed) -> bool:
    return wrong["distribution"] == DISCRIMINATING and _overflowed(wrong)


def _vanished(wrong: Observed) -> bool:
    return float(wrong["got"]) == 0.0 and abs(float(wrong["expected"])) < LEAST_OF_HALF


def _overflowed(wrong: Observed) -> bool:
    return not math.isfinite(float(wrong["got"]))
