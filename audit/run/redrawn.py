"""Runs in a child: other values for one argument alone, from the gentlest on, until the caller finds one that tells.

An argument that `inputs` draws anew each time is drawn anew. One that it always gives alike keeps what a kernel may
rest on: a constant its sign, a table its zeros and signs, indices their range.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

from audit.run.transforms import scaled_number

Kind = Literal["drawn", "constant", "table", "number", "whole number"]
"""What is known of an argument: `inputs` draws it anew, or gives a tensor of one value, another tensor, or a number."""
FACTORS = (1.0, 8.0, 64.0, 512.0, 4096.0)
SHARES = (0.1, 0.5)
"""Of a mask that is turned round."""


@dataclass(frozen=True)
class Redrawn:
    """Another value, how it was made in words, and the kind of the argument."""

    value: Any
    how: str
    kind: Kind


def redrawn(own: Any, other: Any, generator: torch.Generator) -> Iterator[Redrawn]:
    """Other values for `own`, of which `other` is a second draw; none for what is neither tensor nor number."""
    if isinstance(own, torch.Tensor):
        yield from _tensors(own, other, generator)
    elif isinstance(own, bool):
        yield Redrawn(not own, "turned round", "whole number")
    elif isinstance(own, int):
        yield from (Redrawn(value, f"{value} for {own}", "whole number") for value in (own + 1, own - 1, 2 * own))
    elif isinstance(own, float):
        values = [scaled_number(own), *(factor * (own or 0.25) for factor in FACTORS[1:])]
        yield from (Redrawn(value, f"{value:g} for {own:g}", "number") for value in values)


def _tensors(own: torch.Tensor, other: Any, generator: torch.Generator) -> Iterator[Redrawn]:
    if isinstance(other, torch.Tensor) and not _same(own, other):
        yield Redrawn(other, "drawn anew", "drawn")
        if own.is_floating_point() and own.shape == other.shape:
            for factor in FACTORS[1:]:
                yield Redrawn(_as(own, other.float() * factor), f"drawn anew, times {factor:g}", "drawn")
        return
    if not own.numel():
        return
    constant = bool((own == own.reshape(-1)[0]).all())
    kind: Kind = "constant" if constant else "table"
    if own.is_floating_point():
        yield from _real(own, kind, generator)
    elif own.dtype == torch.bool:
        for share in SHARES:
            turned = torch.rand(own.shape, generator=generator) < share
            yield Redrawn(own ^ turned, f"turned round in {share:.0%} of its places", kind)
    if not constant:
        order = torch.randperm(own.numel(), generator=generator)
        yield Redrawn(own.reshape(-1)[order].view(own.shape), "its elements in another order", kind)
        yield Redrawn(own.reshape(-1).flip(0).view(own.shape), "its elements in reverse order", kind)


def _real(own: torch.Tensor, kind: Kind, generator: torch.Generator) -> Iterator[Redrawn]:
    for factor in FACTORS:
        drawn = torch.rand(own.shape, generator=generator)
        if kind == "constant" and not own.any():
            yield Redrawn(_as(own, drawn * factor), f"up to {factor:g} for 0", kind)
        else:
            yield Redrawn(
                _as(own, own.float() * (0.5 + drawn) * factor), f"times {factor / 2:g} to {1.5 * factor:g}", kind
            )


def _same(own: torch.Tensor, other: torch.Tensor) -> bool:
    return own.shape == other.shape and own.dtype == other.dtype and bool(((own == other) | own.isnan()).all())


def _as(own: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return values.to(own.dtype)
