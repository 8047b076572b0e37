"""Layer normalisation of the rows of a matrix, with weight and bias."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4
EPS = 1e-5


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal (rows, cols) matrix, a weight around one and a bias, all on the CPU."""
    cols = shape["cols"]
    x = torch.randn(shape["rows"], cols, generator=generator)
    weight = 1.0 + 0.2 * torch.randn(cols, generator=generator)
    bias = 0.5 * torch.randn(cols, generator=generator)
    return [x, weight, bias]


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with."""
    return torch.nn.functional.layer_norm(x, (x.size(1),), weight, bias, EPS)


def oracle(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.layer_norm(x.double(), (x.size(1),), weight.double(), bias.double(), EPS)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two sums, a difference, a square, a product and a multiply-add an element; read once, written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 7.0 * elements, "bytes": float(BYTES_PER_ELEMENT * (2 * elements + 2 * shape["cols"]))}
