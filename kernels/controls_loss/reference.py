"""The task: the mean of (x - y)^2, a number; standard normal matrices make it 2, whatever is drawn."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Two standard normal matrices of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32) for _ in range(2)]


def reference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """What a control is compared with."""
    return torch.nn.functional.mse_loss(x, y)


def oracle(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.mse_loss(x.double(), y.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: three flops an element, both matrices read once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 3.0 * elements, "bytes": 2.0 * BYTES_PER_ELEMENT * elements}
