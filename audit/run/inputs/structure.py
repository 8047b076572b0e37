"""The structure that every draw of a task's inputs has, and its repair in inputs that the kit changes.

A kernel may rely on it: a search on ascending numbers, a product on a symmetric matrix. So it is read from several
draws, and believed only where all of them have it, with those that `reference.py` offers, and where it arises by chance
less often than once in 10**9. A coincidence of the drawn numbers is none. Triangles are kept too, since every change
keeps zeros; indices stay below the size of a tensor, since no change makes larger ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from audit.run.inputs.structures_of_matrices import DEFINITE, SYMMETRIC
from audit.run.inputs.structures_of_rows import (
    ASCENDING,
    DESCENDING,
    DISTINCT,
    HALVES,
    LOGARITHMS_OF_SHARES,
    ONE_HOT,
    PERMUTATION,
    SHARES,
    UNITS,
    Structure,
)
from audit.run.inputs.transforms import is_real

Flat = list[Any]
"""The leaves of arguments, see `containers`."""
KINDS = (
    ONE_HOT, PERMUTATION, DISTINCT, ASCENDING, DESCENDING, DEFINITE, SYMMETRIC, *SHARES, *UNITS, LOGARITHMS_OF_SHARES,
    HALVES,
)  # fmt: skip
"""In the order in which they are restored."""
ORDERS = (ASCENDING, DESCENDING, SYMMETRIC)
"""Structures that the same numbers lack in another order."""

BELIEVED = math.log(1e-9)
"""The logarithm of the largest chance of a structure that is believed."""
TELLING = math.log(2 / 3)
"""The same of a structure to look for in more draws: a constant tensor, whose chance is 1, is in any order."""
FEWEST, MOST = 3, 32
"""Draws besides the case's own: so many at least, and so many at most where inputs have few elements."""
MOST_ELEMENTS = 1 << 26
"""Elements of all draws above which no more than FEWEST are made."""


@dataclass(frozen=True)
class Below:
    """Indices, the first leaf, from 0 to below the whole number that the second one is."""

    of: tuple[int, int]

    def holds(self, flat: Flat) -> bool:
        """Return whether a draw has it."""
        x, number = (flat[leaf] for leaf in self.of)
        return _is_whole(x) and _is_number(number) and 0 <= int(x.min()) <= int(x.max()) < number

    def chance(self, flat: Flat) -> float:
        """Return the chance that of as many indices up to the number itself none is equal to it."""
        x, number = (flat[leaf] for leaf in self.of)
        return int(x.numel()) * math.log(number / (number + 1))


@dataclass(frozen=True)
class Offsets:
    """Whole numbers, the first leaf, from 0, that never fall and end with the second one, its elements or its rows."""

    of: tuple[int, int]
    rows: bool

    def holds(self, flat: Flat) -> bool:
        """Return whether a draw has it."""
        x, end = flat[self.of[0]], self._end(flat[self.of[1]])
        if not _is_whole(x) or x.dim() != 1 or end is None or len(x) < 2:
            return False
        return int(x[0]) == 0 and int(x[-1]) == end and ASCENDING.holds(x)

    def chance(self, flat: Flat) -> float:
        """Return the chance of that order, and of that last number among those up to it."""
        return ASCENDING.chance(flat[self.of[0]]) - math.log(int(flat[self.of[0]][-1]) + 1)

    def _end(self, other: Any) -> int | None:
        if isinstance(other, torch.Tensor):
            return (other.shape[0] if other.dim() else None) if self.rows else other.numel()
        return other if _is_number(other) and not self.rows else None


Tie = Below | Offsets


def _ties_in(own: Flat) -> Iterator[Tie]:
    """Yield the ties to look for between two leaves."""
    whole = [leaf for leaf, x in enumerate(own) if _is_whole(x)]
    for leaf in whole:
        yield from (Below((leaf, number)) for number, x in enumerate(own) if _is_number(x))
        for other, x in enumerate(own):
            if other != leaf:
                yield Offsets((leaf, other), rows=False)
                if isinstance(x, torch.Tensor) and x.dim() > 1:
                    yield Offsets((leaf, other), rows=True)


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

    def hold(self, flat: Flat, *, but: tuple[int, Structure]) -> bool:
        """Return whether leaves have every structure besides that one of that leaf."""
        of_leaves = ((leaf, kind) for leaf, kinds in self.of.items() for kind in kinds if (leaf, kind) != but)
        return all(kind.holds(flat[leaf]) for leaf, kind in of_leaves) and all(tie.holds(flat) for tie in self.ties)


NONE = Structures({})


def read(own: Flat, *, offered: Iterable[Flat], drawn: Callable[[int], Flat]) -> Structures:
    """Return the structure that a draw `own` and others have: those of inputs that `reference.py` offers besides, asked
    for where `own` has any structure, and draws by their number, counted from 0."""
    looked_for = [*(_Of((leaf,), kind) for leaf in range(len(own)) for kind in KINDS), *_ties_in(own)]
    chances = {one: one.chance(own) for one in looked_for if one.holds(own)}
    left = {one: chance for one, chance in chances.items() if chance < TELLING}
    for other in offered if left else ():
        left = {one: chance for one, chance in left.items() if len(other) == len(own) and one.holds(other)}
    for draw in _draws(own, left, drawn):
        for one in [*left]:
            if len(draw) != len(own) or not one.holds(draw):
                del left[one]
            elif not same(draw[one.of[0]], own[one.of[0]]):
                left[one] += one.chance(draw)
    believed = [one for one, chance in left.items() if chance < BELIEVED]
    of: dict[int, tuple[Structure, ...]] = {}
    for one in believed:
        if isinstance(one, _Of):
            of[one.of[0]] = (*of.get(one.of[0], ()), one.kind)
    return Structures(of, tuple(one for one in believed if not isinstance(one, _Of)))


@dataclass(frozen=True)
class _Of:
    """A structure of a single leaf."""

    of: tuple[int]
    kind: Structure

    def holds(self, flat: Flat) -> bool:
        return _taken(flat[self.of[0]]) and self.kind.holds(flat[self.of[0]])

    def chance(self, flat: Flat) -> float:
        return self.kind.chance(flat[self.of[0]])


def _draws(own: Flat, left: Mapping[Any, float], drawn: Callable[[int], Flat]) -> Iterator[Flat]:
    """Yield draws until each structure that is left is believed; the caller removes from `left`."""
    elements = sum(x.numel() for x in own if isinstance(x, torch.Tensor))
    most = min(max(FEWEST, MOST_ELEMENTS // max(elements, 1)), MOST)
    for number in range(most):
        if not left or (number >= FEWEST and all(chance < BELIEVED for chance in left.values())):
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
    return frozenset(leaf for leaf in alike if _taken(x := own[leaf]) and bool((x != x.reshape(-1)[0]).any()))


def reordered(own: torch.Tensor, order: Structure, generator: torch.Generator) -> Iterator[torch.Tensor]:
    """Yield the numbers of a tensor in another order than one of ORDERS: of matrices those above the diagonal exchanged
    with each other, else all of them, and then those of each row."""
    if order is SYMMETRIC:
        above, found = torch.ones(own.shape[-2:], dtype=torch.bool).triu(1), own.clone()
        numbers = own[..., above]
        found[..., above] = numbers[..., torch.randperm(numbers.shape[-1], generator=generator)]
        yield found
    else:
        yield own.reshape(-1)[torch.randperm(own.numel(), generator=generator)].view(own.shape)
        yield own.gather(-1, torch.rand(own.shape, generator=generator).argsort(-1))


def mixes(columns: Sequence[torch.Tensor]) -> bool:
    """Return whether numbers between those of two draws have the structure that the draws have: unit vectors and
    logarithms of shares have not."""
    return not any(
        all(_taken(x) and one.holds(x) for x in columns) and sum(map(one.chance, columns)) < BELIEVED
        for one in (*UNITS, LOGARITHMS_OF_SHARES)
    )


def same(x: Any, other: Any) -> bool:
    """Return whether two leaves hold the same numbers; a NaN of the first equals whatever is there."""
    if not isinstance(x, torch.Tensor) or not isinstance(other, torch.Tensor):
        return x is other or (type(x) is type(other) and bool(x == other))
    return x.shape == other.shape and x.dtype == other.dtype and bool(((x == other) | x.isnan()).all())


def _taken(x: Any) -> bool:
    """Return whether a leaf may have a structure of its own: a tensor of numbers, other than a mask."""
    return (is_real(x) and x.numel() > 0) or _is_whole(x)


def _is_whole(x: Any) -> bool:
    """Return whether a leaf is a tensor of whole numbers, and not empty."""
    if not isinstance(x, torch.Tensor) or not x.numel():
        return False
    return x.dtype in (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _is_number(x: Any) -> bool:
    return isinstance(x, int) and not isinstance(x, bool)
