"""Sum of a matrix and a scaled one, in fp16."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 2


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor | float]:
    """Two standard normal fp16 matrices of `{"rows": ..., "cols": ...}` and the scale, on the CPU."""
    return [
        torch.randn(shape["rows"], shape["cols"], generator=generator).to(torch.float16),
        torch.randn(shape["rows"], shape["cols"], generator=generator).to(torch.float16),
        0.5,
    ]


def reference(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    """What a kernel is compared with."""
    return (a.float() + scale * b.float()).to(a.dtype)


def oracle(a: torch.Tensor, b: torch.Tensor, scale: float) -> torch.Tensor:
    """The same in float64."""
    return a.double() + scale * b.double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two flops an element, two elements read and one written."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 2.0 * elements, "bytes": 3.0 * BYTES_PER_ELEMENT * elements}
