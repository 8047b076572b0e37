"""Counts of N numbers in 64 equal bins of [0, 1), as int64."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4
BINS = 64


def _bins(x: torch.Tensor) -> torch.Tensor:
    place = torch.nan_to_num(torch.floor(x * BINS), nan=0.0, posinf=BINS - 1, neginf=0.0)
    return place.clamp(0, BINS - 1).long()


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """N numbers uniform in [0, 1) of `{"N": ...}`, on the CPU."""
    return [torch.rand(shape["N"], generator=generator, dtype=torch.float32)]


def reference(x: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.bincount(_bins(x), minlength=BINS)


def oracle(x: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.bincount(_bins(x), minlength=BINS).double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: two flops and one read for each number."""
    return {"flops": 2.0 * shape["N"], "bytes": 1.0 * BYTES_PER_ELEMENT * shape["N"]}
