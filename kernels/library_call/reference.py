"""The task of the claim: y = x·transpose(weight) + bias, float32, row major.

x is (rows, inputs), weight (outputs, inputs), bias (outputs); shapes are `{"rows", "inputs", "outputs"}`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn import functional

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """x, weight and bias, standard normal; on the CPU."""
    sizes = ((shape["rows"], shape["inputs"]), (shape["outputs"], shape["inputs"]), (shape["outputs"],))
    return [torch.randn(size, generator=generator, dtype=torch.float32) for size in sizes]


def reference(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return functional.linear(x, weight, bias)


def oracle(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return functional.linear(x.double(), weight.double(), bias.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (two for each multiply-add) and `bytes` moved (each tensor once)."""
    rows, depth, columns = shape["rows"], shape["inputs"], shape["outputs"]
    elements = rows * depth + columns * depth + columns + rows * columns
    return {"flops": 2.0 * rows * depth * columns, "bytes": float(BYTES_PER_ELEMENT * elements)}


BASELINES: dict[str, Callable[..., torch.Tensor]] = {"eager": reference}
