"""Comparing an output with the oracle, in the positive form: good = |got - want| <= bound, so NaN counts as wrong."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import JsonValue

from audit.model import Tolerance

Array = npt.NDArray[np.float64]
CHUNK = 1 << 18
"""Elements compared at once: what fits into a core's cache, in steps long enough for many threads to take turns."""


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


def rms(values: Array) -> float:
    """The root of the mean square: what a tolerance is relative to beside an element's own size."""
    flat = values.reshape(-1)
    return math.sqrt(float(np.dot(flat, flat)) / flat.size)


def bounds(want: Array, tolerance: Tolerance) -> Array:
    """How far each element may be off."""
    return tolerance.relative * (np.abs(want) + rms(want))


def compare(got: npt.NDArray[Any], want: Array, tolerance: Tolerance, *, least_scale: float = 0.0) -> Comparison:
    """Compares element by element, in float64; both arrays have the same shape, any rank, and are not empty.

    `least_scale` stands for rms(want) where that is smaller, in a result that is zero or nearly so.
    """
    mine, right = got.reshape(-1), want.reshape(-1)
    scale = max(least_scale, rms(right))
    count, worst, most = 0, 0, -1.0
    difference = np.empty(min(CHUNK, right.size))
    for start in range(0, right.size, CHUNK):
        part = right[start : start + CHUNK]
        difference = difference[: part.size]
        with np.errstate(invalid="ignore"):
            np.abs(np.subtract(mine[start : start + CHUNK], part, out=difference), out=difference)
            largest = float(difference.max())  # NaN if one is
            if not largest <= tolerance.relative * scale:  # else all are right, whatever size they have
                count += int(np.count_nonzero(~(difference <= tolerance.relative * (np.abs(part) + scale))))
        if not largest <= most:
            np.copyto(difference, np.inf, where=np.isnan(difference))
            place_here = int(np.argmax(difference))
            if difference[place_here] > most:
                most, worst = float(difference[place_here]), start + place_here
    place = tuple(int(i) for i in np.unravel_index(worst, want.shape))
    with np.errstate(invalid="ignore"):
        difference_there = abs(float(got[place]) - float(want[place]))
    return Comparison(
        elements=want.size,
        elements_wrong=count,
        max_abs_diff=difference_there,
        index=place if count else None,
        expected=float(want[place]) if count else None,
        got=float(got[place]) if count else None,
    )


def number(value: float) -> float | str:
    """The value, or its name where JSON has no number for it."""
    return value if math.isfinite(value) else str(value)
