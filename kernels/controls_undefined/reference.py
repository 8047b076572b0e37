"""The task of these controls: sum and sum of squares of every row of a (rows, cols) float32 matrix, row major."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """Shape (rows, 2): the sum of a row, and that of its squares."""
    return torch.stack((x.sum(dim=1), (x * x).sum(dim=1)), dim=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: `flops` (three an element), `bytes` (each read once, two results a row)."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 3.0 * elements, "bytes": BYTES_PER_ELEMENT * (elements + 2.0 * shape["rows"])}


BASELINES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"eager": reference}
