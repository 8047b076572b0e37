"""Two-dimensional convolution with bias, stride one, no padding."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Images (n, c, h, w), filters (k, c, r, r) and a bias of k numbers, all normal, on the CPU."""
    c, k, r = shape["c"], shape["k"], shape["r"]
    x = torch.randn(shape["n"], c, shape["h"], shape["w"], generator=generator)
    weight = torch.randn(k, c, r, r, generator=generator) / (c * r * r) ** 0.5
    bias = torch.randn(k, generator=generator)
    return [x, weight, bias]


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with."""
    return torch.nn.functional.conv2d(x, weight, bias)


def oracle(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.conv2d(x.double(), weight.double(), bias.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Multiply-adds of the direct convolution; everything read once, the result written once."""
    n, c, k, r = shape["n"], shape["c"], shape["k"], shape["r"]
    out = n * k * (shape["h"] - r + 1) * (shape["w"] - r + 1)
    read = n * c * shape["h"] * shape["w"] + k * c * r * r + k
    return {"flops": 2.0 * out * c * r * r, "bytes": float(BYTES_PER_ELEMENT * (read + out))}
