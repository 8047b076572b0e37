"""Exclusive prefix sums along the rows of a (rows, cols) matrix, float32: y[i, j] is the sum of x[i, k] over k < j."""

from __future__ import annotations

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator)]


def _scan(x: torch.Tensor) -> torch.Tensor:
    return torch.cumsum(torch.nn.functional.pad(x, (1, 0))[:, :-1], dim=1)


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return _scan(x)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return _scan(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """One addition an element; each element read once and written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": float(elements), "bytes": 8.0 * elements}
