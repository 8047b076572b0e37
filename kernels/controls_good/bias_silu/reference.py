"""y = silu(x + bias) for a (rows, cols) matrix and a bias of cols numbers."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal matrix of `{"rows": ..., "cols": ...}` and a bias, on the CPU."""
    x = torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)
    return [x, torch.randn(shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.nn.functional.silu(x + bias)


def oracle(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.silu(x.double() + bias.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: five flops an element, each element read and written once, the bias read once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 5.0 * elements, "bytes": BYTES_PER_ELEMENT * (2.0 * elements + shape["cols"])}
