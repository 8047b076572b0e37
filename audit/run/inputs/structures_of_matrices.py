"""Structures that the matrices of one input, in its last two dimensions, may have."""

from __future__ import annotations

import math

import torch

from audit.run.inputs.structures_of_rows import Structure, share_of_equal

CORNER = 256
"""Matrices, rows and columns of them, from which the chance of being symmetric is taken."""
ROUNDINGS = 8
"""Epsilons of the largest number by which a matrix may differ from its transpose."""
LARGEST_FACTORED = 1024
"""The most rows of a matrix to factor, which takes some hundredths of a second."""
PULLED = tuple(0.25**power for power in range(7))
"""Shares of a change to try on a positive definite matrix: a small enough one leaves it so."""


def _is_symmetric(x: torch.Tensor) -> bool:
    if x.dim() < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
        return False
    return _alike(x[..., :1, :], x[..., :, :1].mT) and _alike(x, x.mT)


def _alike(x: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors are equal but for roundings; a NaN equals a NaN."""
    if torch.equal(x, other) or not x.is_floating_point():
        return torch.equal(x, other)
    sizes = x[x.isfinite()].double().abs()
    slack = ROUNDINGS * torch.finfo(x.dtype).eps * (float(sizes.max()) if sizes.numel() else 0.0)
    near = (x.double() - other.double()).abs() <= slack
    return bool((near | (x == other) | (x.isnan() & other.isnan())).all())


def _chance_of_symmetric(x: torch.Tensor) -> float:
    """Return the chance that each pair across the diagonal is equal, where any two numbers may meet."""
    corner = x.reshape(-1, *x.shape[-2:])[:CORNER, :CORNER, :CORNER]
    equal, size = share_of_equal(corner), corner.shape[-1]
    return len(corner) * size * (size - 1) / 2 * math.log(max(equal, torch.finfo(torch.float32).eps))


def _mirrored(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Copy a change on one side of the diagonal alone to the other side, and elsewhere the lower triangle."""
    changed, lower = x != own, torch.ones(x.shape[-2:], dtype=torch.bool).tril()
    kept = (changed & ~changed.mT) | ((changed == changed.mT) & lower)
    return torch.where(kept, x, x.mT)


SYMMETRIC = Structure("symmetric", _is_symmetric, _chance_of_symmetric, _mirrored)


def _is_definite(x: torch.Tensor) -> bool:
    if not x.is_floating_point() or x.shape[-1:] > (LARGEST_FACTORED,) or not _is_symmetric(x):
        return False
    return not bool(torch.linalg.cholesky_ex(x.double()).info.any())


def _chance_of_definite(x: torch.Tensor) -> float:
    """Return the chance that no number beside the diagonal is larger than both that belong to it on the diagonal, in
    blocks of 2 by 2: of three numbers each is the largest as often."""
    if bool((x == x.reshape(-1)[0]).all()):
        return 0.0
    return x.numel() // x.shape[-1] ** 2 * (x.shape[-1] // 2) * math.log(2 / 3)


def _pulled(x: torch.Tensor, own: torch.Tensor) -> torch.Tensor:
    """Return a share of the change, the largest of PULLED that leaves the matrices positive definite."""
    change = _mirrored(x, own).double() - own.double()
    shares = ((own.double() + share * change).to(x.dtype) for share in PULLED)
    return next((one for one in shares if _is_definite(one)), own)


DEFINITE = Structure("positive definite", _is_definite, _chance_of_definite, _pulled)
