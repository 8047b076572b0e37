"""Cross entropy of (rows, classes) logits with int64 targets, as one number; rows with target -100 are left out."""

from __future__ import annotations

import torch


def inputs(shape: dict[str, int], generator: torch.Generator) -> list[torch.Tensor]:
    """Standard normal logits and targets, of which about an eighth, never the first, are -100."""
    rows, classes = shape["rows"], shape["classes"]
    logits = torch.randn(rows, classes, generator=generator)
    target = torch.randint(0, classes, (rows,), generator=generator)
    ignored = torch.rand(rows, generator=generator) < 0.125
    ignored[0] = False
    target[ignored] = -100
    return [logits, target]


def reference(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """What the claim was compared with."""
    return torch.nn.functional.nll_loss(torch.log_softmax(logits, dim=1), target, ignore_index=-100)


def oracle(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """The same in float64."""
    return torch.nn.functional.nll_loss(torch.log_softmax(logits.double(), dim=1), target, ignore_index=-100)


def cost(shape: dict[str, int]) -> dict[str, float]:
    """A maximum, a difference, an exponential and a sum an element; logits and targets read once."""
    elements = shape["rows"] * shape["classes"]
    return {"flops": 4.0 * elements, "bytes": 4.0 * elements + 8.0 * shape["rows"] + 4.0}
