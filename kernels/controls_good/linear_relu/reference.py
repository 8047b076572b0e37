"""y = relu(x w + bias)."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal x (m, k), w (k, n) and bias (n) of `{"m": ..., "k": ..., "n": ...}`, on the CPU."""
    return [
        torch.randn(shape["m"], shape["k"], generator=generator, dtype=torch.float32),
        torch.randn(shape["k"], shape["n"], generator=generator, dtype=torch.float32),
        torch.randn(shape["n"], generator=generator, dtype=torch.float32),
    ]


def reference(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.relu(x @ w + bias)


def oracle(x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.relu(x.double() @ w.double() + bias.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two flops a product and two an element of y; every matrix moved once."""
    m, k, n = shape["m"], shape["k"], shape["n"]
    return {"flops": 2.0 * m * n * (k + 1), "bytes": BYTES_PER_ELEMENT * (1.0 * m * k + k * n + n + m * n)}
