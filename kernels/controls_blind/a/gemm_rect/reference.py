"""Matrix product of a (m, k) and a (k, n) matrix in float32."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Two standard normal matrices, on the CPU."""
    a = torch.randn(shape["m"], shape["k"], generator=generator)
    b = torch.randn(shape["k"], shape["n"], generator=generator)
    return [a, b]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with."""
    return a @ b


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return a.double() @ b.double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the textbook product; both factors read once, the product written once."""
    m, n, k = shape["m"], shape["n"], shape["k"]
    return {"flops": 2.0 * m * n * k, "bytes": float(BYTES_PER_ELEMENT * (m * k + k * n + m * n))}
