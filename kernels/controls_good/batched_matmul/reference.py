"""The product of every pair of matrices of two batches."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal a (batch, m, k) and b (batch, k, n), on the CPU."""
    return [
        torch.randn(shape["batch"], shape["m"], shape["k"], generator=generator, dtype=torch.float32),
        torch.randn(shape["batch"], shape["k"], shape["n"], generator=generator, dtype=torch.float32),
    ]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.bmm(a, b)


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.bmm(a.double(), b.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two flops a product, every matrix moved once."""
    batch, m, k, n = shape["batch"], shape["m"], shape["k"], shape["n"]
    moved = batch * (m * k + k * n + m * n)
    return {"flops": 2.0 * batch * m * k * n, "bytes": 1.0 * BYTES_PER_ELEMENT * moved}
