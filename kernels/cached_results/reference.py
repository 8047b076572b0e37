"""The task of the claim: y = x·sigmoid(x) for a (rows, cols) float32 matrix, row major."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

BYTES_PER_ELEMENT = 4
OPERATIONS = 4
"""An element: an exponential, a sum, a quotient, a product."""


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows", "cols"}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return x * torch.sigmoid(x)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return x.double() * torch.sigmoid(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` and `bytes` moved (each element read and written once)."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": float(OPERATIONS * elements), "bytes": 2.0 * BYTES_PER_ELEMENT * elements}


BASELINES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"eager": reference, "fused": functional.silu}
