"""Runs in a child: rounding to number formats, and how many bits of a result are right."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

MOST_BITS = 53.0
"""Told where no error shows: a float64 has no more."""
TF32_DROPPED = 13
"""Bits of a float32's mantissa that TF32 has no room for: 23 - 10."""


def effective_bits(got: torch.Tensor, want: torch.Tensor) -> float | None:
    """log2(rms(want) / rms(got - want)) for two float64 tensors; None where a value is not finite or all are zero."""
    scale, error = _rms(want), _rms(got - want)
    if not math.isfinite(scale) or not math.isfinite(error) or scale == 0.0:
        return None
    return MOST_BITS if error == 0.0 else min(MOST_BITS, math.log2(scale / error))


def _rms(x: torch.Tensor) -> float:
    return float(x.square().mean().sqrt())


def tf32(x: torch.Tensor) -> torch.Tensor:
    """A float32 tensor rounded to TF32, to the nearest, ties to even."""
    if x.dtype != torch.float32:
        return x.to(x.dtype)
    bits = x.contiguous().view(torch.int32)
    half = (1 << (TF32_DROPPED - 1)) - 1
    rounded = bits + half + ((bits >> TF32_DROPPED) & 1)
    return torch.where(x.isfinite(), (rounded & -(1 << TF32_DROPPED)).view(torch.float32), x)


FORMATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "tf32": tf32,
    "fp16": lambda x: x.to(torch.float16).to(x.dtype),
    "bf16": lambda x: x.to(torch.bfloat16).to(x.dtype),
}
"""Formats that inputs may be rounded to, from more range or precision to less; the result keeps the inputs' dtype."""
