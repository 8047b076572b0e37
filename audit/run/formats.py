"""Runs in a child: rounding to number formats."""

from __future__ import annotations

from collections.abc import Callable

import torch

TF32_DROPPED = 13
"""Bits of a float32's mantissa that TF32 has no room for: 23 - 10."""


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
