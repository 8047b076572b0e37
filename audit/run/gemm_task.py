"""Runs in a child: a half-precision matrix product whose second operand is handed over in two layouts, as CUDA-L2's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from audit.run.imported_file import Arguments, Sizes
from audit.run.imported_task import Task

HALF_STEP = 16
"""Products that are summed before a sum in half precision is rounded, as one tensor-core instruction does."""


class GemmTask(Task):
    """`(a, b, b_col_major, c)`: a of M x K, b of K x N, the same again column by column, and the destination.

    Args:
        path: a file in `original/` of the claim folder.
        half_sums: whether the sum over K is kept in half precision, in the reference too.
        padded: zeros behind each of M, N and K.
    """

    def __init__(self, path: Path, *, half_sums: bool, padded: Mapping[str, int]) -> None:
        super().__init__(path)
        self._half_sums, self._padded = half_sums, dict(padded)

    def agreeing(self, arguments: Arguments) -> Arguments:
        """The arguments with the second layout made again from the first, for inputs that a probe has changed."""
        a, b, _, c = arguments
        return [a, b, col_major(b), c]

    def cost(self, shape: Sizes) -> dict[str, float]:
        """Compute the least flops, and bytes of a, b and c each once."""
        m, n, k = (float(shape[name]) for name in "MNK")
        return {"flops": 2.0 * m * n * k, "bytes": 2.0 * (m * k + k * n + m * n)}

    def _drawn(self, shape: Sizes, seed: int) -> Arguments:  # noqa: ARG002
        m, n, k = (shape[name] for name in "MNK")
        more_m, more_n, more_k = (self._padded[name] for name in "MNK")
        a = torch.zeros(m + more_m, k + more_k, dtype=torch.float16)
        b = torch.zeros(k + more_k, n + more_n, dtype=torch.float16)
        a[:m, :k], b[:k, :n] = torch.randn(m, k), torch.randn(k, n)
        return [a, b, col_major(b), torch.zeros(m + more_m, n + more_n, dtype=torch.float16)]

    def _computed(self, arguments: Sequence[Any], *, double: bool) -> Any:
        a, b, _, c = arguments
        product = a @ b if double or not self._half_sums else _rounded_often(a, b)
        return product[: c.shape[0] - self._padded["M"], : c.shape[1] - self._padded["N"]]


def col_major(x: torch.Tensor) -> torch.Tensor:
    """The elements of a matrix column by column, in a tensor of the matrix's own shape."""
    return x.t().reshape(x.shape).contiguous()


def _rounded_often(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Compute a b with a sum that is rounded to half precision after every HALF_STEP products."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    for start in range(0, a.shape[1], HALF_STEP):
        total += a[:, start : start + HALF_STEP] @ b[start : start + HALF_STEP]
    return total
