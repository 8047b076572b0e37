"""The task of the claim: mean of group_norm(conv3d(x, weight, bias), 8 groups, scale, shift) for each sample, float32.

x is (batch, 3, depth, height, width), weight (16, 3, 3, 3, 3); shapes are `{"batch", "depth", "height", "width"}`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch.nn import functional

IN_CHANNELS, OUT_CHANNELS, KERNEL, GROUPS = 3, 16, 3, 8
SHIFT = 0.02
"""What the archive's task adds to GroupNorm's shift, which starts at zero."""
BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """x standard normal, weight and bias as PyTorch initialises them, scale one, shift constant; on the CPU."""
    return [*_convolution(shape, generator), torch.ones(OUT_CHANNELS), torch.full((OUT_CHANNELS,), SHIFT)]


def discriminating(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """The same with a scale and a shift as training leaves them: other ones for each channel.

    With one scale in all channels of a group, the mean of what GroupNorm returns is the mean of its shift, whatever
    was convolved.
    """
    return [*_convolution(shape, generator), *(torch.randn(OUT_CHANNELS, generator=generator) for _ in range(2))]


def reference(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor
) -> torch.Tensor:
    """What the claim was compared with."""
    return functional.group_norm(functional.conv3d(x, weight, bias), GROUPS, scale, shift).mean(dim=(1, 2, 3, 4))


def oracle(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor
) -> torch.Tensor:
    """The same in float64."""
    return reference(x.double(), weight.double(), bias.double(), scale.double(), shift.double())


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task as stated: `flops` of the convolution and `bytes` of x read once."""
    positions = shape["batch"] * math.prod(shape[name] - KERNEL + 1 for name in ("depth", "height", "width"))
    elements = shape["batch"] * IN_CHANNELS * shape["depth"] * shape["height"] * shape["width"]
    return {
        "flops": 2.0 * positions * OUT_CHANNELS * IN_CHANNELS * KERNEL**3,
        "bytes": float(BYTES_PER_ELEMENT * elements),
    }


def algebra(
    x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor, scale: torch.Tensor, shift: torch.Tensor
) -> torch.Tensor:
    """PyTorch given the same algebra: only sums over space are needed, so nothing is normalised element by element."""
    y = functional.conv3d(x, weight, bias).flatten(2)
    groups = y.view(y.shape[0], GROUPS, -1)
    spread = torch.rsqrt(groups.var(dim=2, unbiased=False) + 1e-5)
    centred = y.mean(dim=2).view(y.shape[0], GROUPS, -1) - groups.mean(dim=2, keepdim=True)
    return ((centred * spread[..., None]).flatten(1) * scale + shift).mean(dim=1)


BASELINES: dict[str, Callable[..., torch.Tensor]] = {"eager": reference, "algebra": algebra}


def _convolution(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    bound = 1.0 / math.sqrt(IN_CHANNELS * KERNEL**3)
    x = torch.randn(shape["batch"], IN_CHANNELS, shape["depth"], shape["height"], shape["width"], generator=generator)
    weight = torch.rand(OUT_CHANNELS, IN_CHANNELS, KERNEL, KERNEL, KERNEL, generator=generator)
    bias = torch.rand(OUT_CHANNELS, generator=generator)
    return [x, (2 * weight - 1) * bound, (2 * bias - 1) * bound]
