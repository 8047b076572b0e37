"""Column of the largest value of every row, as int64."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.argmax(x, dim=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.argmax(x, dim=1).double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one comparison an element, each element read once, one index a row written."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 1.0 * elements, "bytes": BYTES_PER_ELEMENT * (elements + 2.0 * shape["rows"])}
