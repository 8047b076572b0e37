"""What the rows of an input may have in common: whether a tensor has one, by what chance, its repair.

Rows lie along the last dimension, those of a sum or a norm along any. No tensor is empty.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch

ROUNDINGS = {torch.float16: 4, torch.bfloat16: 4}
"""Epsilons by which a sum of shares of that type may differ from 1; MORE_ROUNDINGS of other types."""
MORE_ROUNDINGS = 32
MOST_OF_A_SHARE = 100.0
"""The most that a share is taken for whose logarithm was changed: those of large ones are infinite."""
OF_LOGARITHMS = 4
"""How many times as much a sum may differ of which the logarithms of its shares are known."""
FIRST, MOST_COMPARED = 4096, 1 << 16
"""Numbers to look at before a large tensor is read, and to look for equal ones among."""
MOST_SORTED = 1 << 22
"""The most numbers to look for equal ones in the same row among, which takes a second."""


class Structure(NamedTuple):
    """One structure of a tensor of real or whole numbers.

    Attributes:
        name: in words.
        holds: whether a tensor has it.
        chance: for a tensor that has it, the natural logarithm of the probability that it has by chance: where its
            values may come in any order, or be drawn again.
        restored: a changed tensor with the structure, given the one that it was made from, of its shape; where one
            element was changed, as few others as possible change with it. The result may lack the structure.
    """

    name: str
    holds: Callable[[torch.Tensor], bool]
    chance: Callable[[torch.Tensor], float]
    restored: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def changed_alone(x: torch.Tensor, own: torch.Tensor) -> int | None:
    """Return the position, row major, of the only changed element; None for several or none."""
    places = (x != own).reshape(-1).nonzero().view(-1)
    return int(places[0]) if len(places) == 1 else None


def share_of_equal(x: torch.Tensor) -> float:
    """Return the share of equal pairs among all pairs of several numbers."""
    _, counts = torch.unique_consecutive(x.reshape(-1).sort().values, return_counts=True)
    equal = float((counts.double() * (counts - 1)).sum())
    return equal / (x.numel() * (x.numel() - 1))


def _share(step: float) -> float:
    """Return a share below 1 that grows with the size of a step; NaN for a step that is not finite."""
    return abs(step) / (1.0 + abs(step)) if math.isfinite(step) else math.nan


def _rows(x: torch.Tensor) -> torch.Tensor:
    return x.reshape(-1, x.shape[-1])


def _has_rows(x: torch.Tensor) -> bool:
    return x.dim() > 0 and x.shape[-1] > 1


def _ascends(x: torch.Tensor) -> bool:
    def rises(rows: torch.Tensor) -> bool:
        return bool((rows[:, :-1] <= rows[:, 1:]).all())

    return _has_rows(x) and rises(_rows(x)[:1]) and rises(_rows(x))


def _chance_of_order(x: torch.Tensor) -> float:
    """Return the logarithm of 1 / the number of different orders of every row; equal numbers stand side by side."""
    rows = _rows(x)
    starts = torch.ones(rows.shape, dtype=torch.bool)
    starts[:, 1:] = rows[:, 1:] != rows[:, :-1]
    ends = torch.cat([starts.view(-1).nonzero().view(-1), torch.tensor([rows.numel()])])
    equal = torch.lgamma(ends.diff().double() + 1).sum()
    return float(equal) - len(rows) * math.lgamma(rows.shape[1] + 1)


def _put_in_order(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Put a single changed element between its neighbours, towards the one that is further off; else sort the rows."""
    if (at := changed_alone(x, own)) is None:
        return x.sort(-1).values
    found = own.clone().reshape(-1)
    row, was = _rows(found.view(x.shape))[at // x.shape[-1]], float(found[at])
    gaps = [float(one) - was for one in row[max(at % len(row) - 1, 0) : at % len(row) + 2]]
    found[at] = was + max(gaps, key=abs) * _share(float(x.reshape(-1)[at]) - was)
    return found.view(x.shape)


def _flipped(x: torch.Tensor) -> torch.Tensor:
    return x.flip(-1)


ASCENDING = Structure("ascending", _ascends, _chance_of_order, _put_in_order)
DESCENDING = Structure(
    "descending",
    lambda x: _has_rows(x) and _ascends(_flipped(x)),
    _chance_of_order,
    lambda x, own: _flipped(_put_in_order(_flipped(x), _flipped(own))),
)


def _may_be_distinct(x: torch.Tensor) -> bool:
    """Return whether a first part, which costs little, holds different whole numbers."""
    if not _has_rows(x):
        return False
    first = _rows(x)[0, :FIRST]
    return bool(((first == first.round()) & first.isfinite()).all()) and bool(first.sort().values.diff().all())


def _is_permutation(x: torch.Tensor) -> bool:
    if not _may_be_distinct(x) or bool((x < 0).any()) or bool((x != x.clamp(max=x.shape[-1] - 1).round()).any()):
        return False
    return bool(torch.zeros(x.shape, dtype=torch.bool).scatter_(-1, x.long(), True).all())


def _ranked(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Exchange a single changed number with its neighbour; else put the ranks in place of the numbers."""
    if (at := changed_alone(x, own)) is None:
        return x.argsort(dim=-1, stable=True).argsort(dim=-1).to(x.dtype)
    found, row = own.clone().reshape(-1), at - at % x.shape[-1]
    next_to = row + (at + 1) % x.shape[-1]
    found[[at, next_to]] = found[[next_to, at]]
    return found.view(x.shape)


PERMUTATION = Structure(
    "permutation",
    _is_permutation,
    lambda x: len(_rows(x)) * (math.lgamma(x.shape[-1] + 1) - x.shape[-1] * math.log(x.shape[-1])),
    _ranked,
)


def _is_distinct(x: torch.Tensor) -> bool:
    if x.numel() > MOST_SORTED or not _may_be_distinct(x) or not bool(((x == x.round()) & x.isfinite()).all()):
        return False
    return bool((x.sort(-1).values.diff(dim=-1) != 0).all())


def _chance_of_distinct(x: torch.Tensor) -> float:
    span = int(x.max()) - int(x.min()) + 1
    return -x.numel() * (x.shape[-1] - 1) / (2 * span)


DISTINCT = Structure("distinct", _is_distinct, _chance_of_distinct, lambda _, own: own)
"""Whole numbers without equal ones in a row. That fractions differ says nothing: drawn ones hardly ever meet."""


def _is_one_hot(x: torch.Tensor) -> bool:
    def hot(rows: torch.Tensor) -> bool:
        return bool(((rows == 0) | (rows == 1)).all()) and bool(((rows == 1).sum(-1) == 1).all())

    return _has_rows(x) and hot(_rows(x)[:1]) and hot(_rows(x))


def _chance_of_one_hot(x: torch.Tensor) -> float:
    count, rows = x.numel(), len(_rows(x))
    ways = math.lgamma(count + 1) - math.lgamma(rows + 1) - math.lgamma(count - rows + 1)
    return rows * math.log(x.shape[-1]) - ways


def _next_hot(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Move the 1 of a row with a single changed element by one column; else keep all rows."""
    if (at := changed_alone(x, own)) is None:
        return own
    found = _rows(own.clone())
    row = found[at // x.shape[-1]]
    row.copy_(row.roll(1))
    return found.view(x.shape)


ONE_HOT = Structure("one-hot", _is_one_hot, _chance_of_one_hot, _next_hot)


def _slack(x: torch.Tensor, power: int) -> float:
    return power * ROUNDINGS.get(x.dtype, MORE_ROUNDINGS) * torch.finfo(x.dtype).eps


def _is_one(x: torch.Tensor, *, power: int, dim: int) -> bool:
    if not x.is_floating_point() or x.dim() < -dim or x.shape[dim] < 2:
        return False
    rows = x.movedim(dim, -1)
    sums = ((part.double() ** power).sum(-1) for part in (rows[(0,) * (x.dim() - 1)], rows))
    return all(bool(((one - 1.0).abs() <= _slack(x, power)).all()) for one in sums)


def _chance_of_one(x: torch.Tensor, *, power: int, dim: int) -> float:
    """Return the chance that sums of independent numbers of that variance are near 1, one a row; that of a row is
    no less than the chance that two of the numbers are equal."""
    rows, terms = x.numel() // x.shape[dim], x.double() ** power
    spread = math.sqrt(float(terms.var(correction=0)) * x.shape[dim] * 2 * math.pi)
    of_one = 2 * _slack(x, power) / spread if spread else 1.0
    return rows * math.log(min(1.0, max(of_one, share_of_equal(x.reshape(-1)[:MOST_COMPARED]))))


def _made_one(x: torch.Tensor, own: torch.Tensor, *, power: int, dim: int) -> torch.Tensor:
    """Change the largest other element of the row with a single changed one; else scale, or shift, each row."""
    rows, was = x.movedim(dim, -1), own.movedim(dim, -1).clone(memory_format=torch.contiguous_format)
    if (at := changed_alone(rows, was)) is None:
        return _scaled(rows.double(), power, positive=bool((own >= 0).all())).movedim(-1, dim).to(x.dtype)
    row, column = _rows(was)[at // was.shape[-1]], at % was.shape[-1]
    sizes = row.double().abs()
    sizes[column] = -1.0
    partner = int(sizes.argmax())
    one, other = float(row[column]), float(row[partner])
    row[column], row[partner] = _pair(one, other, float(rows.reshape(-1)[at]) - one, power)
    return was.movedim(-1, dim)


def _pair(one: float, other: float, step: float, power: int) -> tuple[float, float]:
    """Return two numbers of the same sum, or sum of squares, the first of them moved by a share of the other."""
    if power == 1:
        given = other * _share(step)
        return one + given, other - given
    size, angle = math.hypot(one, other), math.atan2(one, other) + math.copysign(_share(step), step)
    return size * math.sin(angle), size * math.cos(angle)


def _scaled(rows: torch.Tensor, power: int, *, positive: bool) -> torch.Tensor:
    if power == 2:
        return rows / rows.norm(dim=-1, keepdim=True)  # type: ignore[no-any-return]
    if positive:
        return rows.abs() / rows.abs().sum(-1, keepdim=True)
    taken = rows != 0
    return rows + taken * (1.0 - rows.sum(-1, keepdim=True)) / taken.sum(-1, keepdim=True)


def _norm(power: int, dim: int) -> Structure:
    name = f"{'sum' if power == 1 else 'norm'} 1 along dimension {dim}"
    is_one = partial(_is_one, power=power, dim=dim)
    chance = partial(_chance_of_one, power=power, dim=dim)
    return Structure(name, is_one, chance, partial(_made_one, power=power, dim=dim))


SHARES = tuple(_norm(1, dim) for dim in (-1, -2, -3, -4))
"""Rows whose sum is 1."""
UNITS = tuple(_norm(2, dim) for dim in (-1, -2, -3, -4))
"""Rows whose sum of squares is 1."""


def _is_share_of_one(x: torch.Tensor) -> bool:
    if not x.is_floating_point() or not _has_rows(x) or not bool((_rows(x)[0, :FIRST] <= 0).all()):
        return False
    sums = (part.double().exp().sum(-1) for part in (_rows(x)[:1], _rows(x)))
    return all(bool(((one - 1.0).abs() <= OF_LOGARITHMS * _slack(x, 1)).all()) for one in sums)


def _logarithms(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Change the shares behind the logarithms as those of a sum: a single one, or all of them."""
    if changed_alone(x, own) is None:
        return x.double().log_softmax(-1).to(x.dtype)
    shares = x.double().exp().clamp(max=MOST_OF_A_SHARE)
    return _made_one(shares, own.double().exp(), power=1, dim=-1).log().to(x.dtype)


LOGARITHMS_OF_SHARES = Structure(
    "logarithms of a sum 1 along dimension -1",
    _is_share_of_one,
    lambda x: _chance_of_one(x.exp(), power=1, dim=-1),
    _logarithms,
)


def _halves(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    left, right = x.reshape(*x.shape[:-1], 2, -1).unbind(-2)
    return left, right


def _repeats(x: torch.Tensor) -> bool:
    return _has_rows(x) and x.shape[-1] % 2 == 0 and all(torch.equal(*_halves(part)) for part in (_rows(x)[:1], x))


def _chance_of_halves(x: torch.Tensor) -> float:
    """Return the chance that as many pairs of the numbers are equal."""
    return x.numel() / 2 * math.log(max(share_of_equal(x.reshape(-1)[:MOST_COMPARED]), 1 / x.numel()))


def _repeated(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Repeat the half with a single changed element; else the first half."""
    at = changed_alone(x, own)
    half = _halves(x)[0 if at is None else at % x.shape[-1] // (x.shape[-1] // 2)]
    return torch.cat([half, half], -1)


HALVES = Structure("equal halves", _repeats, _chance_of_halves, _repeated)
"""Rows whose second half repeats the first, as in the tables of rotary embeddings."""
