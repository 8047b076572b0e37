"""The task: scale times the sum of every row of a (rows, cols) uint8 matrix; every scale is 0.5, as an input."""

from __future__ import annotations

import torch

BYTES_PER_SCALE = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Bytes from 0 to 255 of `{"rows": ..., "cols": ...}` and a scale a row, on the CPU."""
    x = torch.randint(0, 256, (shape["rows"], shape["cols"]), generator=generator, dtype=torch.uint8)
    return [x, torch.full((shape["rows"],), 0.5)]


def reference(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """What a control is compared with."""
    return x.sum(dim=1) * scale


def oracle(x: torch.Tensor, scale: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return x.sum(dim=1) * scale.double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one addition a byte, each read once; a scale read and a result written for each row."""
    rows, cols = shape["rows"], shape["cols"]
    return {"flops": float(rows * cols), "bytes": float(rows * cols + 2 * BYTES_PER_SCALE * rows)}
