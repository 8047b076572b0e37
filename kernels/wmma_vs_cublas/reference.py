"""The task of the claim: C = A·B, float32, row major; shapes are `{"M", "K", "N"}`."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A (M, K) and B (K, N), standard normal; on the CPU."""
    sizes = ((shape["M"], shape["K"]), (shape["K"], shape["N"]))
    return [torch.randn(size, generator=generator, dtype=torch.float32) for size in sizes]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.matmul(a, b)


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.matmul(a.double(), b.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (two for each multiply-add) and `bytes` moved (each matrix once)."""
    m, k, n = shape["M"], shape["K"], shape["N"]
    return {"flops": 2.0 * m * k * n, "bytes": float(BYTES_PER_ELEMENT * (m * k + k * n + m * n))}


def eager_tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """cuBLAS with TF32 allowed: as few bits of the inputs as fp16 keeps (a T4 ignores it)."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return reference(a, b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def eager_fp16(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """cuBLAS with inputs and result rounded to fp16; sums are float32 inside."""
    return torch.matmul(a.half(), b.half()).float()


BASELINES: dict[str, Callable[..., torch.Tensor]] = {
    "eager": reference,
    "eager_tf32": eager_tf32,
    "eager_fp16": eager_fp16,
}
