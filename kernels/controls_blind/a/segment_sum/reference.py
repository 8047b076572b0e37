"""Adds every row of x to the row of base that its index names."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4
INDEX_BYTES = 8


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Rows (n, c), an int64 index in [0, s) for each, and the (s, c) base they are added to, on the CPU."""
    n, c, s = shape["n"], shape["c"], shape["s"]
    x = torch.randn(n, c, generator=generator)
    index = torch.randint(0, s, (n,), generator=generator)
    base = torch.randn(s, c, generator=generator)
    return [x, index, base]


def reference(x: torch.Tensor, index: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with; base itself stays as it was."""
    return base.index_add(0, index, x)


def oracle(x: torch.Tensor, index: torch.Tensor, base: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return base.double().index_add(0, index, x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one addition an element of x; everything read once, the result written once."""
    n, c, s = shape["n"], shape["c"], shape["s"]
    return {"flops": float(n * c), "bytes": float(BYTES_PER_ELEMENT * (n * c + 2 * s * c) + INDEX_BYTES * n)}
