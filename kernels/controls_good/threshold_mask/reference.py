"""Which elements of a (rows, cols) matrix exceed a limit."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor | float]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}` and the limit, on the CPU."""
    return [
        torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32),
        0.25,
    ]


def reference(x: torch.Tensor, limit: float) -> torch.Tensor:
    """What a kernel is compared with."""
    return x > limit


def oracle(x: torch.Tensor, limit: float) -> torch.Tensor:
    """The same in float64."""
    return (x > limit).double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one comparison an element, each element read and one byte written."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 1.0 * elements, "bytes": (BYTES_PER_ELEMENT + 1.0) * elements}
