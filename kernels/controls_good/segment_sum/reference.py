"""Rows of a matrix added up by segment."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor | int]:
    """A standard normal matrix (rows, width), the segment of each row, and the number of segments, on the CPU."""
    return [
        torch.randn(shape["rows"], shape["width"], generator=generator, dtype=torch.float32),
        torch.randint(shape["segments"], (shape["rows"],), generator=generator),
        shape["segments"],
    ]


def reference(x: torch.Tensor, segments: torch.Tensor, count: int) -> torch.Tensor:
    """What a kernel is compared with."""
    return x.new_zeros(count, x.shape[1]).index_add_(0, segments, x)


def oracle(x: torch.Tensor, segments: torch.Tensor, count: int) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double(), segments, count)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one flop an element; rows and segment numbers read once, sums written once."""
    elements = shape["rows"] * shape["width"]
    moved = elements + 2.0 * shape["rows"] + shape["segments"] * shape["width"]
    return {"flops": 1.0 * elements, "bytes": BYTES_PER_ELEMENT * moved}
