"""x becomes 2 x + 1, in place."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal matrix of `{"rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return x.mul_(2).add_(1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return x.double() * 2 + 1


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two flops an element, each element read and written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 2.0 * elements, "bytes": 2.0 * BYTES_PER_ELEMENT * elements}
