"""GELU (the exact one, with erf) of a float16 matrix plus a bias for each column."""

from __future__ import annotations

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A matrix and a bias, both float16, on the CPU."""
    rows, cols = shape["rows"], shape["cols"]
    return [torch.randn(rows, cols, generator=generator).half(), torch.randn(cols, generator=generator).half()]


def reference(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.nn.functional.gelu(x + bias)


def oracle(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.gelu(x.double() + bias.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """About eight operations an element; each element read once and written once, the bias read once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 8.0 * elements, "bytes": 2.0 * (2 * elements + shape["cols"])}
