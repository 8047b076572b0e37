"""Bilinear upsampling of images by two."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal images of `{"images": ..., "rows": ..., "cols": ...}`, on the CPU."""
    return [torch.randn(shape["images"], shape["rows"], shape["cols"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.nn.functional.interpolate(x[None], scale_factor=2, mode="bilinear", align_corners=False)[0]


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: eight flops an element of the result, every element moved once."""
    elements = shape["images"] * shape["rows"] * shape["cols"]
    return {"flops": 32.0 * elements, "bytes": 5.0 * BYTES_PER_ELEMENT * elements}
