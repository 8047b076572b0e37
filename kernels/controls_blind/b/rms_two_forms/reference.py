"""RMSNorm with a residual in two forms, stacked: norm(x + r) * w and r + norm(x) * w; eps is 1e-6."""

from __future__ import annotations

import torch

EPS = 1e-6


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """x and the residual, standard normal, and a weight for each column, on the CPU."""
    rows, cols = shape["rows"], shape["cols"]
    x = torch.randn(rows, cols, generator=generator)
    residual = torch.randn(rows, cols, generator=generator)
    weight = torch.rand(cols, generator=generator) + 0.5
    return [x, residual, weight]


def _both(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    total = x + residual
    before = total * torch.rsqrt(total.square().mean(dim=1, keepdim=True) + EPS) * weight
    after = residual + x * torch.rsqrt(x.square().mean(dim=1, keepdim=True) + EPS) * weight
    return torch.stack([before, after])


def reference(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return _both(x, residual, weight)


def oracle(x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return _both(x.double(), residual.double(), weight.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """About ten operations an element; x and the residual read once, two results written once, the weight read once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 10.0 * elements, "bytes": 4.0 * (4 * elements + shape["cols"])}
