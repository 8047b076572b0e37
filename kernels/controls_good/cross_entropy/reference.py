"""Mean cross entropy of rows of logits."""

from __future__ import annotations

import torch

BYTES_PER_ELEMENT = 4


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal logits of `{"rows": ..., "cols": ...}` and a label for each row, on the CPU."""
    return [
        torch.randn(shape["rows"], shape["cols"], generator=generator, dtype=torch.float32),
        torch.randint(shape["cols"], (shape["rows"],), generator=generator),
    ]


def reference(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """What a kernel is compared with."""
    return torch.nn.functional.cross_entropy(x, labels)


def oracle(x: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.cross_entropy(x.double(), labels)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """Least work: four flops an element, logits and labels read once."""
    elements = shape["rows"] * shape["cols"]
    return {"flops": 4.0 * elements, "bytes": BYTES_PER_ELEMENT * (elements + 2.0 * shape["rows"])}
