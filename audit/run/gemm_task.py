"""Runs in a child: a half-precision matrix product with the second operand in two layouts, the task of CUDA-L2."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from audit.run.imported_file import Arguments, Sizes
from audit.run.imported_task import Task

HALF_STEP = 16
"""Products that one tensor-core instruction sums before it rounds to half precision."""


class GemmTask(Task):
    """`(a, b, b_col_major, c)`: a of M x K, b of K x N, the same in column-major order, and the destination.

    Args:
        path: a file in `original/` of the claim folder.
        half_sums: whether the sum over K is kept in half precision, in the reference too.
        padded: the zero padding of each of M, N and K.
    """

    def __init__(self, path: Path, *, half_sums: bool, padded: Mapping[str, int]) -> None:
        super().__init__(path)
        self._half_sums, self._padded = half_sums, dict(padded)

    def agreeing(self, arguments: Arguments) -> Arguments:
        """Return the arguments with the second layout made again from the first, after a probe has changed inputs."""
        a, b, _, c = arguments
        return [a, b, col_major(b), c]

    def cost(self, shape: Sizes) -> dict[str, float]:
        """Return the least flops, and the bytes of a, b and c."""
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
    """Return the elements of a matrix in column-major order, in a tensor of its own shape."""
    return x.t().reshape(x.shape).contiguous()


def _rounded_often(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Compute a b with a sum that is rounded to half precision after every HALF_STEP products."""
    total = torch.zeros(a.shape[0], b.shape[1], dtype=a.dtype, device=a.device)
    for start in range(0, a.shape[1], HALF_STEP):
        total += a[:, start : start + HALF_STEP] @ b[start : start + HALF_STEP]
    return total
