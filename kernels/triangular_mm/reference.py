"""The task of the claim: C = tril(A·B) for lower-triangular A and B, N x N, float32.

Every tensor is row major; shapes are `{"N": side}`. Works on whatever device its arguments are on.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

Product = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
BYTES_PER_ELEMENT = 4
BLOCK = 512
"""Side of the blocks below which the blocked baselines go no further: a smaller product does not fill a GPU."""


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


def with_tf32(function: Product) -> Product:
    """The function with TF32 allowed, for kernels that round their inputs too (a T4 ignores it)."""

    def run(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = True
        try:
            return function(a, b)
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before

    return run


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


def diagonals(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The blocks of each diagonal of the result in one batched product, without the blocks that are zero.

    Block (j + d, j) is block row j + d of A, from block column j to j + d, times block column j of B: on one diagonal d
    all have one size and lie one stride apart.
    """
    side, stride = a.shape[0], BLOCK * (a.shape[0] + 1)
    if side % BLOCK:
        return blocked(a, b).float()
    c, a, b = torch.zeros(side, side, dtype=torch.float32, device=a.device), a.contiguous(), b.contiguous()
    for d in range(side // BLOCK):
        sizes, inner, below = side // BLOCK - d, (d + 1) * BLOCK, d * BLOCK * side
        left = a.as_strided((sizes, BLOCK, inner), (stride, side, 1), below)
        right = b.as_strided((sizes, inner, BLOCK), (stride, side, 1))
        out = c.as_strided((sizes, BLOCK, BLOCK), (stride, side, 1), below)
        if a.dtype == torch.float32:
            torch.bmm(left, right, out=out)
        else:
            torch.bmm(left, right, torch.float32, out=out)
    return c


def diagonals_fp16(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same with inputs rounded to fp16 first, and fp32 sums; on a GPU only."""
    return diagonals(a.half(), b.half())


def diagonals_bf16(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same with inputs rounded to bf16, which keeps 8 bits in the range of fp32; on a GPU only."""
    return diagonals(a.bfloat16(), b.bfloat16())


BASELINES: dict[str, Product] = {
    "eager": reference,
    "eager_tf32": with_tf32(reference),
    "blocked": blocked,
    "diagonals": diagonals,
    "diagonals_tf32": with_tf32(diagonals),
    "diagonals_fp16": diagonals_fp16,
    "diagonals_bf16": diagonals_bf16,
}
