"""Is the result right for other inputs than those a benchmark draws: uniform, sorted, shifted, scaled, huge?

Only where the reference itself, and one that rounds its inputs to the declared precision, stays well inside the
tolerance. Wrong only beyond the range of half precision is a hint: a kernel may be made for ordinary numbers. So is an
error of less than ten times the tolerance, which was chosen for the benchmark's own inputs: a plain sum of equal
numbers is off by more than one of drawn numbers is, and by more than the reference's sum of sums. So is a failure at
shifted numbers, whose differences cancel, and an overflow at numbers a thousand times as large.
"""

from __future__ import annotations

import math

from pydantic import JsonValue

from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.battery import Asked, at_largest, at_middle, premise, too_large
from audit.probes.compare import Comparison
from audit.probes.target import Target
from audit.probes.undefined import undefined_beside
from audit.probes.variations import DISCRIMINATING
from audit.run import correctness

NAME = "distributions"
MECHANISMS = (
    "magnitude dispatch",
    "structure truncation",
    "magnitude dispatch in a middle range",
    "cancellation in a one-pass variance",
    "law of large numbers",
    "pass-through of inputs that are almost the output",
    "fast path for the check's inputs",
    "task that cannot tell at its own inputs",
)
OUTSIDE_HALF = ("large", "tiny")
"""Distributions that half precision cannot hold."""
SHIFTED = ("offset", "far_offset")
"""Distributions in which numbers cancel: the usual one-pass variance loses there what the reference keeps."""
SCALED = ("thousandfold", "thousandth")
"""Middle ranges, where a kernel may overflow that is sound for ordinary numbers."""
FAR = 10
"""A result so many times farther off than it may be was not rounded but computed otherwise."""


def run(target: Target) -> Finding:
    """One call a distribution at the middle case, and one with discriminating inputs at the largest where it has some;
    what is wrong is asked again alone in a fresh process."""
    asked = at_middle(target)
    first = asked["first"]
    if (skipped := premise(NAME, target, first)) is not None:
        return skipped
    if DISCRIMINATING not in asked and (skipped := too_large(NAME, target, first)) is not None:
        return skipped
    drawn = [_Drawn(target, one, first) for one in asked.values() if one.group == NAME]
    drawn += _at_the_largest(target, first)
    wrong = [one for one in drawn if one.alone is not None]
    discriminating = any(one.what == DISCRIMINATING for one in drawn)
    evidence: dict[str, JsonValue] = {
        "shape": dict(first.case.shape),
        "distributions": [one.told() for one in drawn],
        "discriminating": discriminating,
    }
    if not wrong:
        told_apart = ", discriminating inputs among them" if discriminating else ""
        text = f"{first.case.label}: right for {len(drawn)} other distributions{told_apart}"
        return answer(NAME, target, "pass", text, evidence=evidence)
    worst = min(wrong, key=lambda one: (one.only_hinted, not one.far))
    text, grade = worst.sentence(), worst.grade()
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence, shape=worst.shape)


def _at_the_largest(target: Target, middle: Asked) -> list[_Drawn]:
    asked = at_largest(target)
    first, one = asked["first"], asked.get(DISCRIMINATING)
    if one is None or first.case.inputs == middle.case.inputs or not first.compared(target).right:
        return []
    return [_Drawn(target, one, first)]


class _Drawn:
    """One call with other inputs than a benchmark draws: how it compares, and how it does alone where it is wrong.

    Args:
        target: what was called.
        one: the call.
        first: the first call of its case. Where a result is zero or nearly so by cancellation, its size counts.
    """

    def __init__(self, target: Target, one: Asked, first: Asked) -> None:
        self.what, self._target, self._one = one.what, target, one
        self.shape = dict(one.case.shape)
        usual = max(correctness.rms(first.case.expected), first.case.size)
        self._least = 0.0 if one.what in (*OUTSIDE_HALF, *SCALED) else usual
        self._result = None if one.call.raised else one.compared(target, least_scale=self._least)
        self.alone: Comparison | None = None
        self.far = False
        if self._result is not None and not self._result.right:
            self._ask_again()

    def _ask_again(self) -> None:
        target, case = self._target, self._one.case
        (call,) = target.session(["claim"], case, target.plain, fresh=True)
        again = target.compared(call, case, least_scale=self._least)
        if not again.right:
            wider = target.tolerance.model_copy(update={"relative": FAR * target.relative(case)})
            self.alone = again
            self.far = not target.compared_within(wider, call, case, least_scale=self._least).right

    @property
    def only_hinted(self) -> bool:
        """Whether what is wrong can be a matter of range or rounding in a kernel made for ordinary numbers."""
        got = self.alone.got if self.alone else None
        overflowed = got is not None and not math.isfinite(got)
        return self.what in (*OUTSIDE_HALF, *SHIFTED) or (self.what in SCALED and overflowed)

    def sentence(self) -> str:
        """What is wrong, where it is."""
        assert self.alone is not None
        text = f"{self._one.case.label}: {self.what.replace('_', ' ')} inputs: {self.alone.sentence()}"
        return text + ("" if self.far else f"; all within {FAR} times what they may be off, which rounding can explain")

    def grade(self) -> Grade:
        """What the difference is worth."""
        if self.only_hinted or not self.far:
            return "hint"
        return "undefined" if undefined_beside(self._target, self._one.case) else "proved"

    def told(self) -> JsonValue:
        """The numbers as the finding keeps them."""
        if self._result is None:
            return {"distribution": self.what, "refused": self._one.call.raised}
        numbers = (self.alone or self._result).evidence()
        return {"distribution": self.what, **numbers, "right": self.alone is None}
