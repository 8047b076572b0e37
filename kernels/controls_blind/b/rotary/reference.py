"""Rotary embedding of x (batch, seq, heads, dim) by halves, with tables cos and sin of (seq, dim / 2), float32."""

from __future__ import annotations

import torch

BASE = 10000.0


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal x, and the tables of random phases plus position times frequency, on the CPU."""
    seq, half = shape["seq"], shape["dim"] // 2
    x = torch.randn(shape["batch"], seq, shape["heads"], shape["dim"], generator=generator)
    frequency = BASE ** (-torch.arange(half, dtype=torch.float64) / half)
    angle = torch.arange(seq, dtype=torch.float64)[:, None] * frequency
    angle = angle + torch.rand(half, generator=generator).double()
    return [x, angle.cos().float(), angle.sin().float()]


def _rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    c, s = cos[None, :, None, :], sin[None, :, None, :]
    return torch.cat([first * c - second * s, second * c + first * s], dim=-1)


def reference(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return _rotate(x, cos, sin)


def oracle(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return _rotate(x.double(), cos.double(), sin.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Three operations an element; x read once, the result written once, both tables read once."""
    elements = shape["batch"] * shape["seq"] * shape["heads"] * shape["dim"]
    return {"flops": 3.0 * elements, "bytes": 4.0 * (2 * elements + shape["seq"] * shape["dim"])}
