"""The task of the claim: RMS norm along the last dimension, float32; shapes are `{"ROWS", "WIDTH"}`."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4
EPSILON = 1e-6


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """X (ROWS, WIDTH) and weight (WIDTH), standard normal; on the CPU."""
    sizes = ((shape["ROWS"], shape["WIDTH"]), (shape["WIDTH"],))
    return [torch.randn(size, generator=generator, dtype=torch.float32) for size in sizes]


def reference(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.nn.functional.rms_norm(x, (x.shape[-1],), weight, EPSILON)


def oracle(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double(), weight.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (four an element) and `bytes` moved (x read, y written, weight read once)."""
    elements = shape["ROWS"] * shape["WIDTH"]
    return {"flops": 4.0 * elements, "bytes": float(BYTES_PER_ELEMENT * (2 * elements + shape["WIDTH"]))}


BASELINES: dict[str, Callable[..., torch.Tensor]] = {"eager": reference}
