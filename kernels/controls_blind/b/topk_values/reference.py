"""The eight largest values of each row of a finite (rows, cols) matrix, in descending order."""

from __future__ import annotations

import torch

K = 8


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of at least eight columns, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.topk(x, K, dim=1).values


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.topk(x.double(), K, dim=1).values


def cost(shape: dict[str, int]) -> dict[str, float]:
    """One comparison an element; each element read once, eight values a row written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": float(elements), "bytes": 4.0 * (elements + K * shape["rows"])}
