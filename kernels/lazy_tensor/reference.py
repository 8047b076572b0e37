"""The task of the claim: C = A·B, float32, row major; A is (M, N), B is (N, M), M far larger than N."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A and B for `{"M", "N"}`, standard normal; on the CPU."""
    sizes = ((shape["M"], shape["N"]), (shape["N"], shape["M"]))
    return [torch.randn(size, generator=generator, dtype=torch.float32) for size in sizes]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.matmul(a, b)


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.matmul(a.double(), b.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (two for each multiply-add) and `bytes` moved (each matrix once)."""
    tall, skinny = shape["M"], shape["N"]
    elements = 2 * tall * skinny + tall * tall
    return {"flops": 2.0 * tall * tall * skinny, "bytes": float(BYTES_PER_ELEMENT * elements)}


BASELINES: dict[str, Callable[..., torch.Tensor]] = {"eager": reference}
