"""Runs in a child: numbers between those of two draws, and the parts of a result that are compared."""

from __future__ import annotations

from collections.abc import Sequence

import torch

PIECE = 4096
"""Elements of one part of a large result."""


def mixture(one: torch.Tensor, other: torch.Tensor, share: float) -> torch.Tensor:
    """Numbers between those of two tensors; where both are the same, or not finite, those of the first."""
    wide = torch.float64 if one.dtype == torch.float64 else torch.float32
    mixed = one.to(wide) * share + other.to(wide) * (1 - share)
    keep = (one == other) | ~(one.isfinite() & other.isfinite())
    return torch.where(keep, one, mixed.to(one.dtype))


def pieces_of(result: torch.Tensor, pieces: Sequence[int] | None) -> torch.Tensor:
    """A result as a vector, row major: all of it, or pieces of `PIECE` elements by their numbers."""
    flat = result.reshape(-1)
    if pieces is None:
        return flat
    rows = flat[: flat.numel() // PIECE * PIECE].view(-1, PIECE)
    return rows[torch.tensor(pieces, device=result.device)].reshape(-1)


def mixable(columns: Sequence[torch.Tensor]) -> bool:
    """Whether numbers between those of several draws are such as the draws may have: fractions, and not all alike."""
    first = columns[0]
    if first.dtype not in (torch.float16, torch.bfloat16, torch.float32, torch.float64) or not first.numel():
        return False
    whole = all(bool((one == one.round()).all()) for one in columns)
    alike = len(columns) > 1 and all(torch.equal(one, first) for one in columns[1:])
    return not whole and not alike
