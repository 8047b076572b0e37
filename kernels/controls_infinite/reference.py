"""The task: y = 1 / x for a (rows, cols) float32 matrix whose first element is 0, so that one result is infinite."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}` with a zero in it, on the CPU."""
    x = torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)
    x[0, 0] = 0.0
    return [x]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a control is compared with."""
    return torch.reciprocal(x)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.reciprocal(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one flop an element, each read and written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": float(elements), "bytes": 2.0 * BYTES_PER_ELEMENT * elements}
