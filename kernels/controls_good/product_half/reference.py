"""Product of two matrices in fp16, summed in float32."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 2


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal fp16 matrices (m, k) and (k, n) of `{"m": ..., "k": ..., "n": ...}`, on the CPU."""
    m, k, n = (shape[name] for name in "mkn")
    return [torch.randn(size, generator=generator).to(torch.float16) for size in ((m, k), (k, n))]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return (a.float() @ b.float()).to(torch.float16)


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return a.double() @ b.double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two flops a product, every matrix moved once."""
    m, k, n = (shape[name] for name in "mkn")
    return {"flops": 2.0 * m * k * n, "bytes": float(BYTES_PER_ELEMENT * (m * k + k * n + m * n))}
