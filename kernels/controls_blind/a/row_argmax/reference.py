"""Index of the largest number of every row; the lowest index where several are equal."""

from __future__ import annotations

import torch

INDEX_BYTES = 8
BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal (rows, cols) matrix, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with."""
    return torch.argmax(x, dim=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64, which orders float32 numbers as float32 does."""
    return torch.argmax(x.double(), dim=1)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one comparison an element; each read once, one index a row written."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": float(elements), "bytes": float(BYTES_PER_ELEMENT * elements + INDEX_BYTES * shape["rows"])}
