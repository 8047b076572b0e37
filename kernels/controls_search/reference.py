"""The task: the eight largest values of every row of a (rows, cols) float32 matrix, the largest first."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4
LARGEST = 8


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """Shape (rows, 8): what a control is compared with."""
    return x.topk(LARGEST, dim=1).values


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return x.double().topk(LARGEST, dim=1).values


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one comparison an element, each read once, eight results a row written."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": float(elements), "bytes": BYTES_PER_ELEMENT * (elements + float(LARGEST) * shape["rows"])}
