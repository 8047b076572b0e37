"""Runs in a child: structures between two inputs: indices below a number, and offsets into another tensor."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from audit.run.structures_of_rows import ASCENDING

Flat = list[Any]
"""The leaves of arguments, see `containers`."""


@dataclass(frozen=True)
class Below:
    """Indices, leaf `index`, from 0 to below the whole number that leaf `number` is."""

    index: int
    number: int

    @property
    def of(self) -> tuple[int, int]:
        """The leaves that it ties to each other."""
        return self.index, self.number

    def holds(self, flat: Flat) -> bool:
        """Return whether a draw has it."""
        x, number = flat[self.index], flat[self.number]
        return is_whole(x) and _is_number(number) and 0 <= int(x.min()) <= int(x.max()) < number

    def chance(self, flat: Flat) -> float:
        """Return the chance that of as many indices up to the number itself none is equal to it."""
        return int(flat[self.index].numel()) * math.log(flat[self.number] / (flat[self.number] + 1))


@dataclass(frozen=True)
class Offsets:
    """Whole numbers, leaf `index`, that start at 0, never fall, and end with the elements or rows of leaf `other`, or
    with that number."""

    index: int
    other: int
    rows: bool

    @property
    def of(self) -> tuple[int, int]:
        """The leaves that it ties to each other."""
        return self.index, self.other

    def holds(self, flat: Flat) -> bool:
        """Return whether a draw has it."""
        x, end = flat[self.index], self._end(flat[self.other])
        if not is_whole(x) or x.dim() != 1 or end is None or len(x) < 2:
            return False
        return int(x[0]) == 0 and int(x[-1]) == end and ASCENDING.holds(x)

    def chance(self, flat: Flat) -> float:
        """Return the chance of that order, and of that last number among those up to it."""
        return ASCENDING.chance(flat[self.index]) - math.log(int(flat[self.index][-1]) + 1)

    def _end(self, other: Any) -> int | None:
        if isinstance(other, torch.Tensor):
            return (other.shape[0] if other.dim() else None) if self.rows else other.numel()
        return other if _is_number(other) and not self.rows else None


Tie = Below | Offsets


def ties_in(own: Flat) -> Iterator[Tie]:
    """Yield the ties to look for between two leaves."""
    whole = [leaf for leaf, x in enumerate(own) if is_whole(x)]
    for leaf in whole:
        yield from (Below(leaf, number) for number, x in enumerate(own) if _is_number(x))
        for other, x in enumerate(own):
            if other != leaf:
                yield Offsets(leaf, other, rows=False)
                if isinstance(x, torch.Tensor) and x.dim() > 1:
                    yield Offsets(leaf, other, rows=True)


def is_whole(x: Any) -> bool:
    """Return whether a leaf is a tensor of whole numbers, and not empty."""
    if not isinstance(x, torch.Tensor) or not x.numel():
        return False
    return x.dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _is_number(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)
