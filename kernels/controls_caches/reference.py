"""The task: y = x W + b for a (rows, cols) float32 matrix, with the parameters W and b in a dict."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

BYTES_PER_ELEMENT = 4
Parameters = dict[str, torch.Tensor]


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[Any]:
    """A standard normal matrix of `{"rows": ..., "cols": ...}`, a square one and a row, on the CPU."""
    rows, cols = shape["rows"], shape["cols"]
    weight, bias = torch.randn(cols, cols, generator=generator), torch.randn(cols, generator=generator)
    return [torch.randn(rows, cols, generator=generator), {"weight": weight, "bias": bias}]


def reference(x: torch.Tensor, parameters: Parameters) -> torch.Tensor:
    """What a control is compared with."""
    return torch.addmm(parameters["bias"], x, parameters["weight"])


def oracle(x: torch.Tensor, parameters: Parameters) -> torch.Tensor:
    """The same in float64."""
    return torch.addmm(parameters["bias"].double(), x.double(), parameters["weight"].double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Two operations a multiply-add; each matrix moved once."""
    rows, cols = shape["rows"], shape["cols"]
    return {"flops": 2.0 * rows * cols * cols, "bytes": float(BYTES_PER_ELEMENT * (2 * rows * cols + cols * cols))}


BASELINES: dict[str, Callable[[torch.Tensor, Parameters], torch.Tensor]] = {"eager": reference}
