"""Mean of the squared differences of two vectors: one number."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Two standard normal vectors of n numbers, on the CPU."""
    return [torch.randn(shape["n"], generator=generator), torch.randn(shape["n"], generator=generator)]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with."""
    return torch.nn.functional.mse_loss(a, b)


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.mse_loss(a.double(), b.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: a difference, a square and a sum an element; each number read once."""
    return {"flops": 3.0 * shape["n"], "bytes": float(BYTES_PER_ELEMENT * (2 * shape["n"] + 1))}
