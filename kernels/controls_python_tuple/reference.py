"""The task: the double and the square of every element of a (rows, 24) float32 matrix, as two results."""

from __future__ import annotations

from collections.abc import Callable

import torch

FEATURES = 24
BYTES_PER_ELEMENT = 4
Pair = tuple[torch.Tensor, torch.Tensor]


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ...}` rows, on the CPU."""
    return [torch.randn(shape["rows"], FEATURES, generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> Pair:
    """Both results."""
    return x * 2, x * x


def oracle(x: torch.Tensor) -> Pair:
    """The same in float64."""
    return reference(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (two an element) and `bytes` moved (one read, two written)."""
    elements = shape["rows"] * FEATURES
    return {"flops": 2.0 * elements, "bytes": 3.0 * BYTES_PER_ELEMENT * elements}


BASELINES: dict[str, Callable[[torch.Tensor], Pair]] = {"eager": reference}
