"""Other values for the inputs of a case, of the same shapes, with the same zeros.

Values are a flat list of leaves, see `containers`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import torch

LARGE, TINY = 2e5, 1e-7
"""Factors that put standard normal numbers above the range of half precision, and below its resolution."""
KEPT_SHARE = 0.03
STRIDED = 16
STEP = 16.0
"""The move of one element, in rms of its tensor."""
BOUNDED, FEWEST_DRAWN = 4.0, 256
"""Uniform numbers span 3.5 standard deviations; 256 normal ones about 5.6, and hardly ever less than 4."""
MOST_WHOLE = 3
"""The largest whole number: sums, also of products of two, are exact in every order."""

LEAST_GRADE = 2.0**-8
"""The least factor of graded numbers; the largest is 1."""
MOST_INDEX_BITS = 40

Transform = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def _sorted(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    y = torch.zeros_like(x, dtype=torch.float32).reshape(-1)
    taken = x.reshape(-1) != 0
    y[taken] = x.reshape(-1)[taken].float().sort().values
    return y.view(x.shape)


def _strided(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    """Multiply every n-th number of the last dimension by STRIDED; n is a power of two that leaves STRIDED such numbers
    where possible, so that one thread of a strided loop gets all of them."""
    last = x.shape[-1] if x.dim() else 1
    apart = 1 << max(last // STRIDED, 2).bit_length() - 1
    return torch.where(torch.arange(last) % apart == 0, STRIDED, 1.0) * x.float()


def _sparse(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Set most numbers to zero, with one whole row of the last dimension."""
    kept = torch.rand(x.shape, generator=generator) < KEPT_SHARE
    if x.dim() > 1 and x.numel():
        rows = kept.view(-1, x.shape[-1])
        rows[int(torch.randint(len(rows), (1,), generator=generator))] = False
    return x.float() * kept


def _shifted(share: int, sign: float) -> Transform:
    """Return a transform that adds two to the power of a share of the mantissa's bits, times a sign."""

    def shift(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
        return x.float() + sign * 2.0 ** (round(-math.log2(torch.finfo(x.dtype).eps)) // share)

    return shift


DISTRIBUTIONS: dict[str, Transform] = {
    "uniform": lambda x, draw: 1.0 - torch.rand(x.shape, generator=draw),
    "sorted": _sorted,
    "constant_rows": lambda x, draw: (
        torch.randn(*x.shape[:-1], 1, generator=draw).expand(x.shape) if x.dim() else x.float()
    ),
    "heavy_tail": lambda x, draw: torch.randn(x.shape, generator=draw) ** 5,
    "sparse": _sparse,
    "strided": _strided,
    "zeros": lambda x, _: torch.zeros(x.shape),
    "offset": _shifted(4, 1.0),
    "far_offset": _shifted(2, -1.0),
    "thousandfold": lambda x, _: x.float() * 1e3,
    "thousandth": lambda x, _: x.float() * 1e-3,
    "large": lambda x, _: x.float() * LARGE,
    "tiny": lambda x, _: x.float() * TINY,
}
"""Distributions other than standard normal numbers; the first are of ordinary size."""
DRAWN = ("uniform", "constant_rows", "heavy_tail")
"""Those whose numbers are drawn anew."""


def redistributed(values: list[Any], name: str, generator: torch.Generator) -> list[Any]:
    """Redraw every real tensor; integers, which may be indices, stay. Numbers that are drawn anew are no larger than
    those of a task that draws small ones: an exponential that fits them overflows at others."""
    change = DISTRIBUTIONS[name]

    def changed(x: torch.Tensor) -> torch.Tensor:
        size = min(1.0, _rms(x)) if name in DRAWN else 1.0
        return torch.where(x != 0, (size * change(x, generator)).to(x.dtype), x)

    return [changed(x) if is_real(x) else x for x in values]


def _rms(x: torch.Tensor) -> float:
    """Return the root of the mean square of the numbers that are not zero; 1 where there are none."""
    taken = x[x != 0].double()
    return float(taken.square().mean().sqrt()) if taken.numel() else 1.0


def opposed(values: list[Any], *, but: Collection[int] = ()) -> list[Any] | None:
    """Make the numbers of the first tensor of both signs negative, and those of others positive; return None where
    there is none.

    Their products are negative then, and so is every element of a row, a window or a batch: a maximum that starts at
    zero, or pads with it, is wrong. Tensors of one sign, such as scales, stay, and so do the leaves `but`.
    """
    real = [(leaf, x) for leaf, x in enumerate(values) if is_real(x) and leaf not in but]
    signed = [leaf for leaf, x in real if bool((x < 0).any()) and bool((x > 0).any())]
    if not signed:
        return None
    return [(-x.abs() if leaf == signed[0] else x.abs()) if leaf in signed else x for leaf, x in enumerate(values)]


def extreme_bytes(values: list[Any], *, lowest: bool) -> list[Any] | None:
    """Fill every tensor of bytes with its own lowest or highest value; return None where there is none.

    Indices are rarely bytes. The sums are the largest in the range of the task's inputs.
    """
    ends = [int(x.min() if lowest else x.max()) if _is_bytes(x) else None for x in values]
    if all(end is None for end in ends):
        return None
    return [x if end is None else torch.full_like(x, end) for x, end in zip(values, ends, strict=True)]


def reordered_masks(values: list[Any], drawn: Callable[[], list[Any]], generator: torch.Generator) -> list[Any] | None:
    """Give the columns of every mask another order, the same for all its rows; return None where there is none.

    The number of places that a row lets through stays. A mask that is in `drawn()`, another draw, too is no such mask.
    """
    if not any(isinstance(x, torch.Tensor) and x.dtype == torch.bool for x in values):
        return None
    others = drawn()
    if len(others) != len(values) or not any(map(_is_drawn_mask, values, others)):
        return None
    return [
        x[..., torch.randperm(x.shape[-1], generator=generator)] if _is_drawn_mask(x, other) else x
        for x, other in zip(values, others, strict=True)
    ]


def _is_drawn_mask(x: object, other: object) -> bool:
    """Return whether `x` is a tensor of bools and `other` another one."""
    if not isinstance(x, torch.Tensor) or x.dtype != torch.bool or not x.dim() or not isinstance(other, torch.Tensor):
        return False
    return x.shape != other.shape or not torch.equal(x, other)


def _is_bytes(x: object) -> bool:
    return isinstance(x, torch.Tensor) and x.dtype in (torch.int8, torch.uint8) and x.numel() > 0


def graded(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Multiply a real tensor by factors that depend on the bits of its indices.

    Halves, every second row and other regular parts then contribute differently to a sum of any length. The same
    generator state gives tensors of all sizes the same directions of growth.
    """
    turned = torch.randint(0, 2, (MOST_INDEX_BITS,), generator=generator)
    bits = [(size - 1).bit_length() if size else 0 for size in x.shape]
    factors = x.float()
    for dim, count in enumerate(bits):
        index = torch.arange(x.shape[dim])
        exponent = torch.zeros(x.shape[dim])
        for bit in range(count):
            exponent += index >> bit & 1 ^ turned[bit]
        factors = factors * (LEAST_GRADE ** (exponent / max(sum(bits), 1))).view(-1, *[1] * (x.dim() - 1 - dim))
    return factors.to(x.dtype)


def one_moved(values: list[Any], leaf: int, position: float, *, factor: float = 1.0) -> list[Any]:
    """Return the leaves with one element of the real tensor of that number moved by `factor` steps; `position` is its
    place as a share from 0 to 1 of the finite elements that are not zero."""
    changed, flat = _copied(values, leaf)
    index = _nonzero(flat, position)
    finite = flat[flat.isfinite()].double()
    if finite.numel():
        flat[index] += factor * STEP * finite.square().mean().sqrt().clamp(min=1.0).to(flat.dtype)
    return changed


def whole(values: list[Any], generator: torch.Generator) -> list[Any]:
    """Redraw every real tensor from small whole numbers of the same signs."""

    def drawn(x: torch.Tensor) -> torch.Tensor:
        sizes = torch.randint(1, MOST_WHOLE + 1, x.shape, generator=generator)
        return x.float().sign().mul(sizes).to(x.dtype)

    return [drawn(x) if is_real(x) else x for x in values]


def two_exchanged(values: list[Any], leaf: int, generator: torch.Generator) -> list[Any]:
    """Exchange two random elements of a leaf that are not zero and differ, if there are such."""
    changed, flat = _copied(values, leaf)
    indices = flat.nonzero().view(-1)
    one = int(indices[int(torch.randint(len(indices), (1,), generator=generator))])
    others = indices[flat[indices] != flat[one]]
    if len(others):
        other = int(others[int(torch.randint(len(others), (1,), generator=generator))])
        flat[[one, other]] = flat[[other, one]]
    return changed


@dataclass(frozen=True)
class Range:
    """The range of a drawn tensor, its zeros left out.

    Attributes:
        ends: the least and the largest number, and a twentieth beyond; None where its distribution is not bounded.
        whole: whether it holds whole numbers alone, none of them negative: pixels, labels, counts.
        zeros: whether it holds a zero, as a mask or padding does.
    """

    ends: tuple[float, float] | None
    whole: bool
    zeros: bool

    @classmethod
    def of(cls, x: Any) -> Range | None:
        """Return the range of a real tensor; None where it restricts nothing.

        It is bounded where its ends are at most BOUNDED standard deviations apart: uniform numbers, not normal ones.
        """
        if not is_real(x) or (taken := _taken(x)).numel() < FEWEST_DRAWN:
            return None
        low, high = float(taken.min()), float(taken.max())
        whole = high > low > 0 and bool((taken == taken.round()).all())
        slack = (high - low) / 20
        ends = (low - slack, high + slack) if 0 < high - low <= BOUNDED * float(taken.std()) else None
        return cls(ends, whole, bool((x == 0).any())) if whole or ends else None

    def left_by(self, x: Any) -> bool:
        """Return whether a tensor has a number outside of it, or one that is not whole; a zero counts where the range
        holds none."""
        if not is_real(x) or not (taken := _taken(x) if self.zeros else x[x.isfinite()].double()).numel():
            return False
        if self.whole and bool((taken != taken.round()).any()):
            return True
        return self.ends is not None and bool(taken.min() < self.ends[0] or taken.max() > self.ends[1])


def _taken(x: torch.Tensor) -> torch.Tensor:
    """Return the finite elements that are not zero, float64."""
    return x[x.isfinite() & (x != 0)].double()


def leaves_range(values: list[Any], ranges: list[Range | None]) -> bool:
    """Return whether a value leaves the range of a case's inputs."""
    return any(given is not None and given.left_by(x) for x, given in zip(values, ranges, strict=False))


def with_value(values: list[Any], leaf: int, value: float, *, position: float) -> list[Any]:
    """Replace one element of a leaf that is finite and not zero; `leaf` and `position` as in `one_moved`."""
    changed, flat = _copied(values, leaf)
    flat[_nonzero(flat, position)] = value
    return changed


def is_real(x: object) -> bool:
    """Return whether `x` is a floating-point tensor, except of eight bits, for which torch has no arithmetic."""
    return isinstance(x, torch.Tensor) and x.is_floating_point() and x.element_size() > 1


def _copied(values: list[Any], leaf: int) -> tuple[list[Any], torch.Tensor]:
    """Return copies of the values, and that leaf as a vector."""
    copies = [x.clone(memory_format=torch.contiguous_format) if isinstance(x, torch.Tensor) else x for x in values]
    return copies, copies[leaf].view(-1)


def _nonzero(flat: torch.Tensor, position: float) -> int:
    indices = (flat.isfinite() & (flat != 0)).nonzero().view(-1)
    return int(indices[round(position * (len(indices) - 1))]) if len(indices) else flat.numel() - 1
