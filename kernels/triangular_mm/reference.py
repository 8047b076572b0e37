"""The task of the claim: C = tril(A·B) for lower-triangular A and B, N x N, float32.

Every tensor is row major; shapes are `{"N": side}`. Works on whatever device its arguments are on.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4
BLOCK = 512
"""Side from which on the blocked baseline stops halving: below it a product no longer fills a GPU."""


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A and B, standard normal on and below the diagonal, zero above it; on the CPU."""
    side = shape["N"]
    return [torch.randn(side, side, generator=generator, dtype=torch.float32).tril() for _ in range(2)]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.matmul(a, b).tril()


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.matmul(a.double(), b.double()).tril()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (two for each useful multiply-add) and `bytes` moved.

    Element (row, col) needs row - col + 1 products, N(N+1)(N+2)/6 in all. Both triangles are read once,
    the whole square is written once.
    """
    side = shape["N"]
    return {
        "flops": side * (side + 1) * (side + 2) / 3,
        "bytes": float(BYTES_PER_ELEMENT * (side * (side + 1) + side * side)),
    }


def eager_tf32(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The reference with TF32 allowed, for kernels that round their inputs too (a T4 ignores it)."""
    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        return reference(a, b)
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before


def blocked(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """PyTorch given the same algebra: halves the matrices and skips the blocks that are zero."""
    side = a.shape[0]
    if side <= BLOCK:
        return reference(a, b)
    half = side // 2
    c = torch.zeros_like(a)
    c[:half, :half] = blocked(a[:half, :half], b[:half, :half])
    c[half:, half:] = blocked(a[half:, half:], b[half:, half:])
    c[half:, :half] = a[half:, :half] @ b[:half, :half] + a[half:, half:] @ b[half:, :half]
    return c


BASELINES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "eager": reference,
    "eager_tf32": eager_tf32,
    "blocked": blocked,
}
