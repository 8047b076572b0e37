"""Scaled scores of causal attention: minus infinity above the diagonal."""

from __future__ import annotations

import math

import torch

BYTES_PER_ELEMENT = 4
SCALE = 0.125


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of side `{"n": ...}`, on the CPU."""
    return [torch.randn(shape["n"], shape["n"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    above = torch.ones(x.shape, dtype=torch.bool, device=x.device).triu(1)
    return (x * SCALE).masked_fill(above, -math.inf)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: one flop an element below the diagonal, half the matrix read, all of it written."""
    elements = shape["n"] ** 2
    return {"flops": elements / 2, "bytes": 1.5 * BYTES_PER_ELEMENT * elements}
