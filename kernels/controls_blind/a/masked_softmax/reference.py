"""Softmax over the rows of x + mask, where the mask holds 0 or minus infinity."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal (rows, cols) matrix and its mask; every row keeps at least one element."""
    rows, cols = shape["rows"], shape["cols"]
    x = torch.randn(rows, cols, generator=generator)
    drop = torch.rand(rows, cols, generator=generator) < 0.3
    kept = torch.arange(rows) % cols
    drop[torch.arange(rows), kept] = False
    mask = torch.zeros(rows, cols).masked_fill(drop, float("-inf"))
    return [x, mask]


def reference(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with."""
    return torch.softmax(x + mask, dim=1)


def oracle(x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.softmax(x.double() + mask.double(), dim=1)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: an addition, a comparison, a difference, an exponential, a sum and a quotient an element."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 6.0 * elements, "bytes": float(BYTES_PER_ELEMENT * 3 * elements)}
