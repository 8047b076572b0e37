"""Comparing an output with the oracle, in the positive form: good = |got - want| <= bound, so NaN counts as wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from audit.model import Tolerance

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """How an output compares with what is right; `index`, `expected` and `got` belong to the worst element."""

    elements: int
    elements_wrong: int
    max_abs_diff: float
    index: tuple[int, ...] | None
    expected: float | None
    got: float | None

    @property
    def right(self) -> bool:
        """True if every element is within the tolerance."""
        return self.elements_wrong == 0

    def evidence(self) -> dict[str, JsonValue]:
        """The numbers as a finding keeps them."""
        return {
            "right": self.right,
            "elements": self.elements,
            "elements_wrong": self.elements_wrong,
            "max_abs_diff": number(self.max_abs_diff),
            "index": None if self.index is None else list(self.index),
            "expected": None if self.expected is None else number(self.expected),
            "got": None if self.got is None else number(self.got),
        }

    def sentence(self) -> str:
        """What is wrong, as index, expected, got."""
        if self.index is None or self.expected is None or self.got is None:
            return f"all {self.elements:,} elements right"
        place = ", ".join(str(i) for i in self.index)
        return (
            f"{self.elements_wrong:,} of {self.elements:,} elements wrong; "
            f"at [{place}] expected {self.expected:.6g}, got {self.got:.6g}"
        )


def compare(got: Array, want: Array, tolerance: Tolerance) -> Comparison:
    """Compares element by element; both arrays have the same shape, any rank, and are not empty."""
    bound = tolerance.relative * (np.abs(want) + math.sqrt(float(np.mean(want * want))))
    with np.errstate(invalid="ignore"):
        difference = np.abs(got - want)
        wrong = ~(difference <= bound)
    worst = int(np.argmax(np.where(np.isnan(difference), np.inf, difference)))
    place = tuple(int(i) for i in np.unravel_index(worst, want.shape))
    count = int(np.count_nonzero(wrong))
    return Comparison(
        elements=want.size,
        elements_wrong=count,
        max_abs_diff=float(difference.flat[worst]),
        index=place if count else None,
        expected=float(want[place]) if count else None,
        got=float(got[place]) if count else None,
    )


def number(value: float) -> float | str:
    """The value, or its name where JSON has no number for it."""
    return value if math.isfinite(value) else str(value)
