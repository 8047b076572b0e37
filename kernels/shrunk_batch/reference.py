"""The task of the claim: softmax over the columns of a (batch, features) float32 matrix, row major."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4
OPERATIONS = 4
"""An element: a comparison, a difference with its exponential counted as one, a sum, a product."""


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"batch", "features"}`, on the CPU."""
    return [torch.randn(shape["batch"], shape["features"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.softmax(x, dim=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.softmax(x.double(), dim=1)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` and `bytes` moved (each element read and written once)."""
    elements = shape["batch"] * shape["features"]
    return {"flops": float(OPERATIONS * elements), "bytes": 2.0 * BYTES_PER_ELEMENT * elements}


BASELINES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"eager": reference}
