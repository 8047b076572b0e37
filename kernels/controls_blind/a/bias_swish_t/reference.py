"""Swish of a matrix plus a bias a column, handed out transposed, in bfloat16."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 2


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal (rows, cols) matrix and a bias of cols numbers, bfloat16, on the CPU."""
    x = torch.randn(shape["rows"], shape["cols"], generator=generator)
    bias = torch.randn(shape["cols"], generator=generator)
    return [x.to(torch.bfloat16), bias.to(torch.bfloat16)]


def reference(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with: in float32, rounded once."""
    return torch.nn.functional.silu(x.float() + bias.float()).to(torch.bfloat16).t().contiguous()


def oracle(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.silu(x.double() + bias.double()).t().contiguous()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: an addition, an exponential, an addition and a division an element; all read once and written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 4.0 * elements, "bytes": float(BYTES_PER_ELEMENT * (2 * elements + shape["cols"]))}
