"""The transposed matrix, contiguous."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return x.t().contiguous()


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return x.double().t().contiguous()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: no flops, each element read and written once."""
    return {"flops": 0.0, "bytes": 2.0 * BYTES_PER_ELEMENT * shape["rows"] * shape["cols"]}
