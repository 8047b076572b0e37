"""Comparing an output with the oracle; `audit.run.correctness` has the rule by which an element is right."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.model import Tolerance
from audit.run import correctness

Array = npt.NDArray[np.float64]
Values = npt.NDArray[Any]
Scale = float | tuple[float, ...]
"""The size of a result; of several outputs one number each."""
FAR = 10
"""A result so many times farther off than it may be was not rounded but computed otherwise."""
ROUNDED = f"all within {FAR} times what they may be off, which rounding can explain"
"""Of a wrong result that is nearer."""
ShareMap = list[list[float]]
MAP_SIDE, LEAST_SHARE = 64, 1e-4
"""Cells of a map along a side, and the least share of one that has any."""
CHUNK = 1 << 18
"""Elements compared at once: what fits into a core's cache, in steps long enough for many threads to take turns."""


@dataclass(frozen=True)
class Output:
    """One of several outputs: its shape, the type it must come in, and the size it has at least, see `Case.size`."""

    shape: tuple[int, ...]
    dtype: str
    size: float = 0.0

    @property
    def elements(self) -> int:
        """How many it has."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Right:
    """A right result in float64, the type it must come in, by torch's name, and results that are as right, element by
    element. Several `outputs` are one vector, and each is held to its own size and type."""

    values: Array
    dtype: str
    also: tuple[Array, ...] = ()
    outputs: tuple[Output, ...] = ()

    @cached_property
    def each(self) -> list[Right]:
        """Each of several outputs as a right result of its own."""
        return [
            Right(values.reshape(one.shape), one.dtype, tuple(also))
            for one, values, *also in zip(self.outputs, *map(self.split, (self.values, *self.also)), strict=True)
        ]

    def split(self, vector: Values) -> list[Values]:
        """Return each output's part of a vector of all elements."""
        return np.split(vector.reshape(-1), np.cumsum([one.elements for one in self.outputs])[:-1])

    @cached_property
    def rms(self) -> float:
        """The root mean square of the finite elements. Raises NothingFinite where there is none."""
        return correctness.rms(self.values)

    @cached_property
    def finite(self) -> bool:
        """Whether all elements are."""
        with np.errstate(invalid="ignore", over="ignore"):
            return bool(np.isfinite(self.values.sum()))


@dataclass(frozen=True)
class Comparison:
    """How an output compares with what is right; `index`, `expected` and `got` belong to the worst element.

    The worst element is the wrong one farthest off; of several outputs, in the one with most wrong elements, which
    is `output`. `floor` is the tolerance that counted where the stated one is finer than the output's type can hold.
    """

    elements: int
    elements_wrong: int
    max_abs_diff: float
    index: tuple[int, ...] | None
    expected: float | None
    got: float | None
    floor: float | None = None
    output: int | None = None

    @property
    def right(self) -> bool:
        """True if every element is within the tolerance."""
        return self.elements_wrong == 0

    def evidence(self) -> dict[str, Any]:
        """The numbers as a finding keeps them."""
        return {
            "right": self.right,
            "elements": self.elements,
            "elements_wrong": self.elements_wrong,
            "max_abs_diff": number(self.max_abs_diff),
            "index": None if self.index is None else list(self.index),
            "expected": None if self.expected is None else number(self.expected),
            "got": None if self.got is None else number(self.got),
            **({} if self.floor is None else {"tolerance_floor": self.floor}),
            **({} if self.output is None else {"output": self.output}),
        }


def sentence(seen: Mapping[str, Any]) -> str:
    """What is wrong, as index, expected, got; from `Comparison.evidence`."""
    if seen["index"] is None:
        return f"all {seen['elements']:,} elements right"
    place = ", ".join(str(i) for i in seen["index"])
    place = f"[{place}]" + (f" of output {seen['output']}" if "output" in seen else "")
    expected, got = float(seen["expected"]), float(seen["got"])
    wrong = f"{seen['elements_wrong']:,} of {seen['elements']:,} elements wrong"
    return f"{wrong}; at {place} expected {expected:.6g}, got {got:.6g}"


def compare(got: Values, right: Right, tolerance: Tolerance, *, least_scale: Scale = 0.0) -> Comparison:
    """Compare element by element, in float64; the two differ in unit dimensions at most, and are not empty.

    Args:
        got: the result, of any real number type.
        right: what is right.
        tolerance: the stated one; it counts down to the floor of the right result's type.
        least_scale: stands for the size of the right result where that is smaller: it is zero or nearly so. One
            for each of several outputs.

    Raises:
        NothingFinite: the right result has no finite element.
    """
    if right.outputs:
        return _of_outputs(got, right, tolerance, least_scale)
    assert isinstance(least_scale, float)
    want, also = right.values, right.also
    mine, due = got.reshape(-1), want.reshape(-1)
    relative, scale = _allowed(right, tolerance, least_scale)
    seen = _Seen(finite=right.finite, room=np.empty(min(CHUNK, due.size)))
    for start in range(0, due.size, CHUNK):
        part = slice(start, start + CHUNK)
        others = [one.reshape(-1)[part] for one in also]
        seen.look(start, mine[part], due[part], others, relative=relative, scale=scale)
    wrong = seen.count > 0
    place, expected, there = seen.worst, float(due[seen.worst]), float(mine[seen.worst])
    return Comparison(
        elements=want.size,
        elements_wrong=seen.count,
        max_abs_diff=abs(there - expected) if seen.most > 0 else 0.0,
        index=tuple(int(i) for i in np.unravel_index(place, want.shape)) if wrong else None,
        expected=expected if wrong else None,
        got=there if wrong else None,
        floor=relative if relative > tolerance.relative else None,
    )


def _allowed(right: Right, tolerance: Tolerance, least_scale: float) -> tuple[float, float]:
    """The relative tolerance that counts, and the size that it is relative to."""
    relative = correctness.held_to(tolerance.relative, right.dtype)
    return relative, max(least_scale, right.rms, correctness.least_scale(right.dtype, relative))


def _of_outputs(got: Values, right: Right, tolerance: Tolerance, least_scale: Scale) -> Comparison:
    scales = least_scale if isinstance(least_scale, tuple) else (least_scale,) * len(right.outputs)
    parts = enumerate(zip(right.split(got), right.each, scales, strict=True))
    found = {
        place: compare(part, one, tolerance, least_scale=scale) for place, (part, one, scale) in parts if part.size
    }
    place, worst = max(found.items(), key=lambda pair: (pair[1].elements_wrong, pair[1].max_abs_diff))
    every = found.values()
    return replace(
        worst,
        elements=sum(one.elements for one in every),
        elements_wrong=sum(one.elements_wrong for one in every),
        output=None if worst.right else place,
        floor=max((one.floor for one in every if one.floor is not None), default=None),
    )


def wrong_map(got: Values, right: Right, tolerance: Tolerance, *, least_scale: Scale, output: int | None) -> ShareMap:
    """The share of elements that `compare` finds wrong, as `share_map` has it; of several outputs, of that one."""
    if output is not None:
        got, right = right.split(got)[output], right.each[output]
        least_scale = least_scale[output] if isinstance(least_scale, tuple) else least_scale
    assert isinstance(least_scale, float)
    relative, scale = _allowed(right, tolerance, least_scale)
    mine, due, also = got.reshape(-1), right.values.reshape(-1), [one.reshape(-1) for one in right.also]
    wrong = np.zeros(due.size, dtype=bool)
    for start in range(0, due.size, CHUNK):
        part = slice(start, start + CHUNK)
        held = mine[part].astype(np.float64)
        wrong[part] = ~correctness.right(held, due[part], relative=relative, scale=scale)
        for one in also:
            wrong[part] &= held != one[part]
    shape = right.values.shape
    return share_map(wrong.reshape(-1, shape[-1] if shape else 1))


def share_map(rows: npt.NDArray[np.bool_]) -> ShareMap:
    """The share that is set, in cells of at most 64 x 64 over a (rows, columns) mask; 1 is a whole cell."""
    bands = [np.array_split(band, min(MAP_SIDE, rows.shape[1]), axis=1)
             for band in np.array_split(rows, min(MAP_SIDE, rows.shape[0]), axis=0)]  # fmt: skip
    return [[_share(float(cell.mean())) for cell in band] for band in bands]


def _share(value: float) -> float:
    return value if value in (0.0, 1.0) else min(max(round(value, 4), LEAST_SHARE), 1 - LEAST_SHARE)


@dataclass
class _Seen:
    """How many elements were wrong so far, where the worst is, and how far off; a wrong one is worse than any other.

    `finite` says that every right element is: then an element near enough to it is right, and no other. `room` takes
    the differences of one step after another: memory that is not given back costs many threads no page faults.
    """

    finite: bool
    room: Array
    count: int = 0
    worst: int = 0
    most: float = -1.0

    def look(
        self, start: int, got: Values, want: Array, also: Sequence[Array], *, relative: float, scale: float
    ) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            difference = np.subtract(got, want, out=self.room[: len(got)], dtype=np.float64)
            np.abs(difference, out=difference)
        if float(difference.max()) <= relative * scale:  # False beside a NaN; else all are right, whatever their size
            if not self.count:
                self._take(start, difference)
            return
        if self.finite:
            wrong = ~(difference <= correctness.bounds(want, relative, scale))
            np.copyto(difference, np.inf, where=np.isnan(difference))
        else:
            np.copyto(difference, np.inf, where=np.isnan(difference))
            difference[correctness.same(got, want)] = 0.0
            wrong = ~correctness.right(got, want, relative=relative, scale=scale)
        for one in also:
            wrong &= got != one
        if wrong.any():
            self.most = self.most if self.count else -1.0
            self.count += int(np.count_nonzero(wrong))
            self._take(start, np.where(wrong, difference, -1.0))
        elif not self.count:
            self._take(start, difference)

    def _take(self, start: int, difference: Array) -> None:
        if self.most == math.inf:  # nothing is farther off
            return
        place = int(np.argmax(difference))
        if difference[place] > self.most:
            self.most, self.worst = float(difference[place]), start + place


def number(value: float) -> float | str:
    """The value, or its name where JSON has no number for it."""
    return value if math.isfinite(value) else str(value)
