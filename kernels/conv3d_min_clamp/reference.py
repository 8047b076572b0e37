"""The task of the claim: clamp(min(group_norm(conv3d(x, weight, bias), 8 groups, scale, shift), low), low, 1), float32.

x is (batch, 3, depth, height, width), weight (16, 3, 3, 3, 3); shapes are `{"batch", "depth", "height", "width"}`.
What is at most `low` and then raised to `low` is `low`: of all finite inputs only `low` can move the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

IN_CHANNELS, OUT_CHANNELS, KERNEL, GROUPS = 3, 16, 3, 8
LOW, HIGH = 0.0, 1.0
BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[Any]:
    """x, scale and shift standard normal, weight and bias as PyTorch initialises them, and the limit; on the CPU."""
    bound = 1.0 / math.sqrt(IN_CHANNELS * KERNEL**3)
    x = torch.randn(shape["batch"], IN_CHANNELS, shape["depth"], shape["height"], shape["width"], generator=generator)
    weight = torch.rand(OUT_CHANNELS, IN_CHANNELS, KERNEL, KERNEL, KERNEL, generator=generator)
    bias = torch.rand(OUT_CHANNELS, generator=generator)
    scale, shift = (torch.randn(OUT_CHANNELS, generator=generator) for _ in range(2))
    return [x, (2 * weight - 1) * bound, (2 * bias - 1) * bound, scale, shift, LOW]


def reference(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor, low: float
) -> torch.Tensor:
    """What the claim was compared with."""
    y = functional.group_norm(functional.conv3d(x, weight, bias), GROUPS, scale, shift)
    return torch.clamp(torch.minimum(y, torch.tensor(low, dtype=y.dtype)), min=low, max=HIGH)


def oracle(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor, low: float
) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double(), weight.double(), bias.double(), scale.double(), shift.double(), low)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task as stated: `flops` of the convolution and `bytes` of x read and the result written."""
    positions = shape["batch"] * math.prod(shape[name] - KERNEL + 1 for name in ("depth", "height", "width"))
    elements = shape["batch"] * IN_CHANNELS * shape["depth"] * shape["height"] * shape["width"]
    return {
        "flops": 2.0 * positions * OUT_CHANNELS * IN_CHANNELS * KERNEL**3,
        "bytes": float(BYTES_PER_ELEMENT * (elements + positions * OUT_CHANNELS)),
    }


def constant(
    x: torch.Tensor, weight: torch.Tensor, _bias: torch.Tensor, _scale: torch.Tensor, _shift: torch.Tensor,
    low: float,
) -> torch.Tensor:  # fmt: skip
    """PyTorch given the same algebra: the one number that can come out."""
    extent = (size - KERNEL + 1 for size in x.shape[2:])
    return x.new_full((x.shape[0], weight.shape[0], *extent), min(low, HIGH))


BASELINES: dict[str, Callable[..., torch.Tensor]] = {"eager": reference, "constant": constant}
