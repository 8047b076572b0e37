"""Batched product of a (batch, m, k) and the transpose of b (batch, n, k), float32."""

from __future__ import annotations

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Two standard normal tensors on the CPU."""
    a = torch.randn(shape["batch"], shape["m"], shape["k"], generator=generator)
    b = torch.randn(shape["batch"], shape["n"], shape["k"], generator=generator)
    return [a, b]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.bmm(a, b.transpose(1, 2))


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.bmm(a.double(), b.double().transpose(1, 2))


def cost(shape: dict[str, int]) -> dict[str, float]:
    """A multiplication and an addition for each term; both operands read once, the product written once."""
    batch, m, n, k = shape["batch"], shape["m"], shape["n"], shape["k"]
    return {"flops": 2.0 * batch * m * n * k, "bytes": 4.0 * batch * (m * k + n * k + m * n)}
