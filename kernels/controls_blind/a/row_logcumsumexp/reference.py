"""Running log-sum-exp along the rows of a matrix whose rows begin with minus infinity as padding."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal (rows, cols) matrix; up to a quarter of every row is padding, on the CPU."""
    rows, cols = shape["rows"], shape["cols"]
    x = torch.randn(rows, cols, generator=generator)
    padding = torch.randint(0, cols // 4 + 1, (rows, 1), generator=generator)
    return [x.masked_fill(torch.arange(cols)[None, :] < padding, float("-inf"))]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the kernels are compared with; minus infinity as long as only padding was seen."""
    return torch.logcumsumexp(x, dim=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.logcumsumexp(x.double(), dim=1)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: an exponential, an addition and a logarithm an element; read once, written once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 3.0 * elements, "bytes": float(BYTES_PER_ELEMENT * 2 * elements)}
