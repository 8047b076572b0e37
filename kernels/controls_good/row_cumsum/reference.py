"""Running sums of every row of a (rows, cols) matrix."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.cumsum(x, dim=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.cumsum(x.double(), dim=1)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one flop an element, each element read and written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 1.0 * elements, "bytes": 2.0 * BYTES_PER_ELEMENT * elements}
