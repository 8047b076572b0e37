"""Runs in a child: lower number formats that inputs may be rounded to; the result keeps the inputs' dtype."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from audit.run.containers import leaves, rebuilt
from audit.run.transforms import is_real

TF32_DROPPED = 13
"""Bits of a float32's mantissa that TF32 lacks: 23 - 10."""


def tf32(x: torch.Tensor) -> torch.Tensor:
    """Round a float32 tensor to TF32, to nearest, ties to even."""
    if x.dtype != torch.float32:
        return x.to(x.dtype)
    bits = x.contiguous().view(torch.int32)
    half = (1 << (TF32_DROPPED - 1)) - 1
    rounded = bits + half + ((bits >> TF32_DROPPED) & 1)
    return torch.where(x.isfinite(), (rounded & -(1 << TF32_DROPPED)).view(torch.float32), x)


def split_fp16(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of a tensor's fp16 rounding and of the fp16 rounding of the rest."""
    first = x.to(torch.float16).to(x.dtype)
    return first + (x - first).to(torch.float16).to(x.dtype)


FORMATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "split_fp16": split_fp16,
    "tf32": tf32,
    "fp16": lambda x: x.to(torch.float16).to(x.dtype),
    "bf16": lambda x: x.to(torch.bfloat16).to(x.dtype),
}
"""In order of falling range or precision."""
ROUNDS_BY = {"split_fp16": 2.0**-22, "tf32": 2.0**-11, "fp16": 2.0**-11, "bf16": 2.0**-8}
"""The largest relative error of rounding to each, within its range."""


def each_real(values: list[Any], change: Callable[[torch.Tensor], torch.Tensor]) -> list[Any]:
    """Return arguments with every real tensor changed, in containers of the same structure."""
    made: list[Any] = rebuilt(values, [change(x) if is_real(x) else x for x in leaves(values)])
    return made


Changed = Callable[[list[Any], str, torch.Generator], list[Any]]


def rounded_alone(values: list[Any], name: str, _: torch.Generator) -> list[Any]:
    """Return arguments rounded to that format."""
    return each_real(values, FORMATS[name])


def as_computed(values: list[Any], name: str, generator: torch.Generator) -> list[Any]:
    """Return arguments that move a result as computing it in that format does.

    They are rounded to it. A tensor of such numbers already is moved in float64 as far as a rounding moves an
    intermediate value.
    """

    def moved(x: torch.Tensor) -> torch.Tensor:
        low = FORMATS[name](x)
        if not torch.equal(low, x):
            return low
        step = 2.0 * torch.rand(x.shape, generator=generator, dtype=torch.float64) - 1.0
        return x.double() * (1.0 + ROUNDS_BY[name] * step.to(x.device))

    return each_real(values, moved)
