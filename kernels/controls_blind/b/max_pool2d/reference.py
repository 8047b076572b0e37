"""Max-pooling of (n, c, h, w) with a window of 3, a stride of 2 and a padding of 1, float32."""

from __future__ import annotations

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """One standard normal tensor on the CPU."""
    return [torch.randn(shape["n"], shape["c"], shape["h"], shape["w"], generator=generator)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.nn.functional.max_pool2d(x, kernel_size=3, stride=2, padding=1)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.max_pool2d(x.double(), kernel_size=3, stride=2, padding=1)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Eight comparisons a result; each input read once, each result written once."""
    planes = shape["n"] * shape["c"]
    results = planes * ((shape["h"] + 1) // 2) * ((shape["w"] + 1) // 2)
    return {"flops": 8.0 * results, "bytes": 4.0 * (planes * shape["h"] * shape["w"] + results)}
