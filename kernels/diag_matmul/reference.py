"""The task of the claim: C = diag(a)·B, float32, row major; a has N elements, B is (N, M); shapes are `{"N", "M"}`."""

from __future__ import annotations

from collections.abc import Callable

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """a and B, standard normal; on the CPU."""
    sizes = ((shape["N"],), (shape["N"], shape["M"]))
    return [torch.randn(size, generator=generator, dtype=torch.float32) for size in sizes]


def reference(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with: a matrix of zeros but for its diagonal, and a full product."""
    return torch.diag(a) @ b


def oracle(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return a.double()[:, None] * b.double()


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work of the task: `flops` (one an element, the other products are with zeros) and `bytes` moved."""
    elements = shape["N"] * shape["M"]
    return {"flops": float(elements), "bytes": float(BYTES_PER_ELEMENT * (shape["N"] + 2 * elements))}


def broadcast(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """PyTorch given the same algebra: each row times its element of the diagonal."""
    return a[:, None] * b


BASELINES: dict[str, Callable[..., torch.Tensor]] = {"eager": reference, "broadcast": broadcast}
