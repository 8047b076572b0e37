"""Runs in a child: other values for the inputs of a case, of the same shapes, zero where the given ones are zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

LARGE, TINY = 2e5, 1e-7
"""Factors that put standard normal numbers above what half precision can hold, and below what it can resolve."""
KEPT_SHARE = 0.1
STEP = 16.0
"""How far one element moves, in rms of its tensor."""

Transform = Callable[[torch.Tensor, torch.Generator], torch.Tensor]


def _uniform(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return 1.0 - torch.rand(x.shape, generator=generator)


def _sorted(x: torch.Tensor, _: torch.Generator) -> torch.Tensor:
    y = torch.zeros_like(x, dtype=torch.float32).reshape(-1)
    taken = x.reshape(-1) != 0
    y[taken] = x.reshape(-1)[taken].float().sort().values
    return y.view(x.shape)


def _constant_rows(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(*x.shape[:-1], 1, generator=generator).expand(x.shape) if x.dim() else x.float()


def _heavy_tail(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.randn(x.shape, generator=generator) ** 5


def _sparse(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return x.float() * (torch.rand(x.shape, generator=generator) < KEPT_SHARE)


DISTRIBUTIONS: dict[str, Transform] = {
    "uniform": _uniform,
    "sorted": _sorted,
    "constant_rows": _constant_rows,
    "heavy_tail": _heavy_tail,
    "sparse": _sparse,
    "zeros": lambda x, _: torch.zeros(x.shape),
    "large": lambda x, _: x.float() * LARGE,
    "tiny": lambda x, _: x.float() * TINY,
}
"""Other distributions than standard normal numbers; the first are of ordinary size."""


def redistributed(values: list[Any], name: str, generator: torch.Generator) -> list[Any]:
    """Every tensor of numbers with fractions drawn anew; integers, which may be indices, stay."""
    change = DISTRIBUTIONS[name]
    return [torch.where(x != 0, change(x, generator).to(x.dtype), x) if is_real(x) else x for x in values]


def one_moved(values: list[Any], position: float) -> list[Any]:
    """One element of the first real tensor moved: the non-zero one at that share, 0 to 1, of all."""
    changed, flat = _copied(values)
    index = _nonzero(flat, position)
    flat[index] += STEP * flat.double().square().mean().sqrt().clamp(min=1.0).to(flat.dtype)
    return changed


def with_value(values: list[Any], value: float) -> list[Any]:
    """The last non-zero element of the first real tensor replaced."""
    changed, flat = _copied(values)
    flat[_nonzero(flat, 1.0)] = value
    return changed


def is_real(x: object) -> bool:
    """A tensor of numbers with fractions."""
    return isinstance(x, torch.Tensor) and x.is_floating_point()


def scaled_number(x: float) -> float:
    """Another value for a number among the arguments: a share stays a share, a positive number positive."""
    return 0.5 * x if x else 0.25


def _copied(values: list[Any]) -> tuple[list[Any], torch.Tensor]:
    """The values with tensors of their own, and the first real one as a vector."""
    copies = [x.clone(memory_format=torch.contiguous_format) if isinstance(x, torch.Tensor) else x for x in values]
    return copies, next(x for x in copies if is_real(x) and x.numel()).view(-1)


def _nonzero(flat: torch.Tensor, position: float) -> int:
    places = flat.nonzero().view(-1)
    return int(places[round(position * (len(places) - 1))]) if len(places) else flat.numel() - 1
