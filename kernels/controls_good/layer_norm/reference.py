"""Layer norm of every row of a (rows, cols) matrix, with weight and bias."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal matrix of `{"rows": ..., "cols": ...}`, a weight and a bias, on the CPU."""
    return [
        torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32),
        torch.randn(shape["cols"], generator=generator, dtype=torch.float32),
        torch.randn(shape["cols"], generator=generator, dtype=torch.float32),
    ]


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.nn.functional.layer_norm(x, x.shape[1:], weight, bias)


def oracle(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.layer_norm(x.double(), x.shape[1:], weight.double(), bias.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: eight flops an element, the matrix read and written once, weight and bias read once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 8.0 * elements, "bytes": 2.0 * BYTES_PER_ELEMENT * (elements + shape["cols"])}
