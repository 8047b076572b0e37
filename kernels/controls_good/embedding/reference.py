"""Rows of a table, named by indices."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """A standard normal table (entries, width) and count indices into it, on the CPU."""
    return [
        torch.randn(shape["entries"], shape["width"], generator=generator, dtype=torch.float32),
        torch.randint(shape["entries"], (shape["count"],), generator=generator),
    ]


def reference(table: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    known = (indices >= 0) & (indices < table.shape[0])
    return table[torch.where(known, indices, 0)] * known[:, None]


def oracle(table: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return reference(table.double(), indices)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: no flops; count rows read and written, and the indices read."""
    moved = 2.0 * shape["count"] * (shape["width"] + 1)
    return {"flops": 0.0, "bytes": BYTES_PER_ELEMENT * moved}
