"""Compare an output with the oracle; `audit.run.calls.correctness` has the rule for a right element."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from audit.model import Tolerance
from audit.run.calls import correctness

Array = npt.NDArray[np.float64]
Values = npt.NDArray[Any]
Scale = float | tuple[float, ...]
"""The rms of a result, or of each of several outputs."""
FAR = 10
"""Rounding does not explain an error above this many tolerances."""
FEW = 1e-3
"""A share of wrong elements that roundings of 16-bit intermediate values can explain, where those nearly cancel."""
HALF = ("float16", "bfloat16")
ROUNDED = f"all within {FAR} times what they may be off, which rounding can explain"
"""The text for a smaller error."""
ShareMap = list[list[float]]
MAP_SIDE, LEAST_SHARE = 64, 1e-4
"""The most cells along a side of a map, and the least share of a cell that is not zero."""
CHUNK = 1 << 18
"""Elements compared at once: they fit into a core's cache, and the steps are long enough for threads to alternate."""


@dataclass(frozen=True)
class Output:
    """One of several right outputs: its shape, its type, and its least rms, see `Case.size`."""

    shape: tuple[int, ...]
    dtype: str
    size: float = 0.0

    @property
    def elements(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)


@dataclass(frozen=True)
class Right:
    """A right result in float64, its type by torch's name, and alternatives, element by element. Several `outputs` are
    one vector, each compared by its own rms and type."""

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
        """The rms of the finite elements. Raises NothingFinite where there is none."""
        return correctness.rms(self.values)

    @cached_property
    def finite(self) -> bool:
        """Whether all elements are finite."""
        with np.errstate(invalid="ignore", over="ignore"):
            return bool(np.isfinite(self.values.sum()))


@dataclass(frozen=True)
class Comparison:
    """An output compared with the right result; `index`, `expected` and `got` are those of the worst element.

    The worst element is the wrong one with the largest error; of several outputs, in `output`, which has most wrong
    elements. `floor` is the tolerance that replaced a stated one below the resolution of the output's type.
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
        """Whether every element is within the tolerance."""
        return self.elements_wrong == 0

    def evidence(self) -> dict[str, Any]:
        """Return the numbers for a finding."""
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


def few_of_half(seen: Mapping[str, Any], dtype: str) -> bool:
    """Return whether a result of 16-bit numbers is wrong at few elements, by the evidence of a comparison."""
    return dtype in HALF and seen["elements_wrong"] < FEW * seen["elements"]


def sentence(seen: Mapping[str, Any]) -> str:
    """Return the error in words, with index, expected and got; from `Comparison.evidence`."""
    if seen["index"] is None:
        return f"all {seen['elements']:,} elements right"
    return f"{seen['elements_wrong']:,} of {seen['elements']:,} elements wrong; {worst_element(seen)}"


def worst_element(seen: Mapping[str, Any]) -> str:
    """Return index, expected and got of the worst element, in words; from `Comparison.evidence`."""
    index, expected, got = ", ".join(map(str, seen["index"])), float(seen["expected"]), float(seen["got"])
    output = f" of output {seen['output']}" if "output" in seen else ""
    digits = 6 if f"{expected:.6g}" != f"{got:.6g}" else 17  # large whole numbers, off by a few
    return f"at [{index}]{output} expected {expected:.{digits}g}, got {got:.{digits}g}"


def compare(
    got: Values,
    right: Right,
    tolerance: Tolerance,
    *,
    least_scale: Scale = 0.0,
    kept: npt.NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare element by element, in float64; the shapes differ in unit dimensions at most, and are not empty. Raises
    NothingFinite where the right result has no finite element.

    Args:
        got: the result, of any real number type.
        right: the right result.
        tolerance: the stated one, at least the floor of the right result's type.
        least_scale: replaces the rms of the right result where that is smaller; one for each of several outputs.
        kept: the elements to compare, at least one; the others count as right. None: all.
    """
    if right.outputs:
        return _of_outputs(got if kept is None else np.where(kept, got, right.values), right, tolerance, least_scale)
    assert isinstance(least_scale, float)
    want, places = right.values, None if kept is None or kept.all() else np.flatnonzero(kept)
    mine, due, *also = (_at(places, one) for one in (got, want, *right.also))
    relative, scale = _allowed(right, tolerance, least_scale)
    seen = _Tally(finite=right.finite, buffer=np.empty(min(CHUNK, due.size)))
    for start in range(0, due.size, CHUNK):
        part = slice(start, start + CHUNK)
        others = [one[part] for one in also]
        seen.look(start, mine[part], due[part], others, relative=relative, scale=scale)
    wrong, at = seen.count > 0, seen.worst if places is None else places[seen.worst]
    expected, there = float(due[seen.worst]), float(mine[seen.worst])
    return Comparison(
        elements=want.size,
        elements_wrong=seen.count,
        max_abs_diff=abs(there - expected) if seen.most > 0 else 0.0,
        index=tuple(int(i) for i in np.unravel_index(at, want.shape)) if wrong else None,
        expected=expected if wrong else None,
        got=there if wrong else None,
        floor=relative if relative > tolerance.relative else None,
    )


def _at(places: npt.NDArray[np.intp] | None, values: Values) -> Values:
    return values.reshape(-1) if places is None else values.reshape(-1)[places]


def _allowed(right: Right, tolerance: Tolerance, least_scale: float) -> tuple[float, float]:
    """Return the effective relative tolerance, and its scale."""
    relative = correctness.held_to(tolerance.relative, right.dtype)
    scale = max(least_scale, right.rms)
    stated = correctness.scale_of(tolerance.absolute, relative, rms=scale)
    return relative, max(scale, stated, correctness.least_scale(right.dtype, relative))


def _of_outputs(got: Values, right: Right, tolerance: Tolerance, least_scale: Scale) -> Comparison:
    scales = least_scale if isinstance(least_scale, tuple) else (least_scale,) * len(right.outputs)
    parts = enumerate(zip(right.split(got), right.each, scales, strict=True))
    found = {
        output: compare(part, one, tolerance, least_scale=scale) for output, (part, one, scale) in parts if part.size
    }
    output, worst = max(found.items(), key=lambda pair: (pair[1].elements_wrong, pair[1].max_abs_diff))
    every = found.values()
    return replace(
        worst,
        elements=sum(one.elements for one in every),
        elements_wrong=sum(one.elements_wrong for one in every),
        output=None if worst.right else output,
        floor=max((one.floor for one in every if one.floor is not None), default=None),
    )


def wrong_map(got: Values, right: Right, tolerance: Tolerance, *, least_scale: Scale, output: int | None) -> ShareMap:
    """Return the `share_map` of the elements that `compare` finds wrong; of several outputs, of that one."""
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
    """Return the share that is set, in at most 64 x 64 cells of a (rows, columns) mask; 1 is a whole cell."""
    bands = [np.array_split(band, min(MAP_SIDE, rows.shape[1]), axis=1)
             for band in np.array_split(rows, min(MAP_SIDE, rows.shape[0]), axis=0)]  # fmt: skip
    return [[_share(float(cell.mean())) for cell in band] for band in bands]


def _share(value: float) -> float:
    return value if value in (0.0, 1.0) else min(max(round(value, 4), LEAST_SHARE), 1 - LEAST_SHARE)


@dataclass
class _Tally:
    """The number of wrong elements so far, and the worst element with its error; a wrong one is worse than any other.

    `finite` is whether every right element is: then nearness alone decides. `buffer` holds the differences of each
    step: reused memory spares page faults in many threads.
    """

    finite: bool
    buffer: Array
    count: int = 0
    worst: int = 0
    most: float = -1.0

    def look(
        self, start: int, got: Values, want: Array, also: Sequence[Array], *, relative: float, scale: float
    ) -> None:
        with np.errstate(invalid="ignore", over="ignore"):
            difference = np.subtract(got, want, out=self.buffer[: len(got)], dtype=np.float64)
            np.abs(difference, out=difference)
        if float(difference.max()) <= relative * scale:  # False with a NaN; else all are right, whatever their size
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
        if self.most == math.inf:  # no error is larger
            return
        index = int(np.argmax(difference))
        if difference[index] > self.most:
            self.most, self.worst = float(difference[index]), start + index


def number(value: float) -> float | str:
    """Return the value, or its name where JSON has no number for it."""
    return value if math.isfinite(value) else str(value)
