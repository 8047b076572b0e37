"""3 x 3 correlation with zero padding, one channel."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal image of `{"rows": ..., "cols": ...}` and a 3 x 3 kernel, on the CPU."""
    return [
        torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32),
        torch.randn(3, 3, generator=generator, dtype=torch.float32),
    ]


def reference(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.nn.functional.conv2d(x[None, None], w[None, None], padding=1)[0, 0]


def oracle(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double(), w.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: eighteen flops an element, each element read and written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 18.0 * elements, "bytes": 2.0 * BYTES_PER_ELEMENT * elements}
