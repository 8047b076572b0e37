"""Runs in a child: the structure that every draw of a task's inputs has, and its repair in inputs that the kit changes.

A kernel may rely on it: a search on ascending numbers, a product on a symmetric matrix. So it is read from several
draws, and believed only where all of them have it, with those that `reference.py` offers, and where it arises by chance
less often than once in 10**9. A coincidence of the drawn numbers is none. Triangles are kept too, since every change
keeps zeros; indices stay below the size of a tensor, since no change makes larger ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from audit.run.structures_between import Flat, Tie, is_whole, ties_in
from audit.run.structures_of_matrices import DEFINITE, SYMMETRIC
from audit.run.structures_of_rows import (
    ASCENDING,
    DESCENDING,
    DISTINCT,
    ONE_HOT,
    PERMUTATION,
    SHARES,
    UNITS,
    Structure,
)
from audit.run.transforms import is_real

KINDS = (ONE_HOT, PERMUTATION, DISTINCT, ASCENDING, DESCENDING, DEFINITE, SYMMETRIC, *SHARES, *UNITS)
"""In the order in which they are restored."""

BELIEVED = math.log(1e-9)
"""The logarithm of the largest chance of a structure that is believed."""
TELLING = math.log(2 / 3)
"""The same of a structure to look for in more draws: a constant tensor, whose chance is 1, is in any order."""
FEWEST, MOST = 3, 32
"""Draws besides the case's own: so many at least, and so many at most where inputs have few elements."""
MOST_ELEMENTS = 1 << 26
"""Elements of all draws above which no more than FEWEST are made."""


@dataclass(frozen=True)
class Structures:
    """The structure of a task's inputs: of single leaves, by their number, and between two of them."""

    of: dict[int, tuple[Structure, ...]]
    ties: tuple[Tie, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.of or self.ties)

    def restored(self, flat: Flat, own: Flat) -> Flat:
        """Return changed leaves with the structure; a leaf is that of `own`, a draw, where nothing else has it."""
        if len(flat) != len(own):
            return flat
        found = [_restored(x, was, self.of.get(leaf, ())) for leaf, (x, was) in enumerate(zip(flat, own, strict=True))]
        for tie in self.ties:
            if not tie.holds(found):
                found = [own[leaf] if leaf in tie.of else x for leaf, x in enumerate(found)]
        return found


NONE = Structures({})


def read(own: Flat, *, offered: Iterable[Flat], drawn: Callable[[int], Flat]) -> Structures:
    """Return the structure that a draw and others have.

    Args:
        own: the leaves of a draw.
        offered: those of inputs that `reference.py` offers besides; asked for where `own` has any structure.
        drawn: makes a draw of that number, counted from 0.
    """
    chances = {one: one.chance(own) for one in ties_in(own) if one.holds(own)}
    single = {(leaf, one): one.chance(x) for leaf, x in enumerate(own) if _taken(x) for one in KINDS if one.holds(x)}
    left = [*(_Found(_Of(*key), chance) for key, chance in single.items()), *map(_Found, chances, chances.values())]
    left = [one for one in left if one.chance < TELLING]
    if left:
        left = [one for one in left if all(_has(one.tie, other, own) for other in offered)]
    for draw in _draws(own, left, drawn):
        left[:] = [one for one in left if one.seen_in(draw, own)]
    believed = [one.tie for one in left if one.chance < BELIEVED]
    leaves = {one.leaf for one in believed if isinstance(one, _Of)}
    of = {leaf: tuple(one.kind for one in believed if isinstance(one, _Of) and one.leaf == leaf) for leaf in leaves}
    return Structures(of, tuple(one for one in believed if not isinstance(one, _Of)))


@dataclass(frozen=True)
class _Of:
    """A structure of a single leaf."""

    leaf: int
    kind: Structure

    @property
    def of(self) -> tuple[int]:
        return (self.leaf,)

    def holds(self, flat: Flat) -> bool:
        return _taken(flat[self.leaf]) and self.kind.holds(flat[self.leaf])

    def chance(self, flat: Flat) -> float:
        return self.kind.chance(flat[self.leaf])


@dataclass
class _Found:
    """A structure that all draws so far have, and its chance in those that differ from the first."""

    tie: Tie | _Of
    chance: float

    def seen_in(self, draw: Flat, own: Flat) -> bool:
        """Return whether another draw has it too, and count its chance there."""
        if not _has(self.tie, draw, own):
            return False
        first = self.tie.of[0]
        self.chance += 0.0 if same(draw[first], own[first]) else self.tie.chance(draw)
        return True


def _has(tie: Tie | _Of, flat: Flat, own: Flat) -> bool:
    return len(flat) == len(own) and tie.holds(flat)


def _draws(own: Flat, left: Sequence[_Found], drawn: Callable[[int], Flat]) -> Iterator[Flat]:
    """Yield draws until each structure that is left is believed; `left` is what the caller leaves of it."""
    elements = sum(x.numel() for x in own if isinstance(x, torch.Tensor))
    most = min(max(FEWEST, MOST_ELEMENTS // max(elements, 1)), MOST)
    for number in range(most):
        if not left or (number >= FEWEST and all(one.chance < BELIEVED for one in left)):
            return
        yield drawn(number)


def _restored(x: Any, own: Any, kinds: Sequence[Structure]) -> Any:
    if x is own or not kinds:
        return x
    if (x.shape, x.dtype) != (own.shape, own.dtype):
        return x if all(kind.holds(x) for kind in kinds) else own
    found = x
    for kind in kinds:
        if not kind.holds(found):
            found = kind.restored(found, own)
    found = found.contiguous() if own.is_contiguous() else found
    return found if all(kind.holds(found) for kind in kinds) else own


def tables(own: Flat, others: Sequence[Flat]) -> frozenset[int]:
    """Return the leaves that hold several different numbers, the same in every draw, where another tensor's differ."""
    alike = {
        leaf
        for leaf, x in enumerate(own)
        if isinstance(x, torch.Tensor) and all(len(one) == len(own) and same(x, one[leaf]) for one in others)
    }
    if all(leaf in alike for leaf, x in enumerate(own) if isinstance(x, torch.Tensor)):
        return frozenset()
    return frozenset(leaf for leaf in alike if _taken(own[leaf]) and not _constant(own[leaf]))


def mixes(columns: Sequence[torch.Tensor]) -> bool:
    """Return whether numbers between those of two draws have the structure that the draws have: not unit vectors."""
    return not any(
        all(_taken(x) and one.holds(x) for x in columns) and sum(map(one.chance, columns)) < BELIEVED for one in UNITS
    )


def same(x: Any, other: Any) -> bool:
    """Return whether two leaves hold the same numbers; a NaN of the first equals whatever is there."""
    if not isinstance(x, torch.Tensor) or not isinstance(other, torch.Tensor):
        return x is other or (type(x) is type(other) and bool(x == other))
    return x.shape == other.shape and x.dtype == other.dtype and bool(((x == other) | x.isnan()).all())


def _constant(x: torch.Tensor) -> bool:
    return bool((x == x.reshape(-1)[0]).all())


def _taken(x: Any) -> bool:
    """Return whether a leaf may have a structure of its own: a tensor of numbers, other than a mask."""
    return (is_real(x) and x.numel() > 0) or is_whole(x)
