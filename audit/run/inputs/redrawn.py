"""Other values for one argument, from the nearest on, with the properties that it always has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import torch

from audit.run.inputs.structure import same
from audit.run.inputs.transforms import is_real

Kind = Literal["drawn", "constant", "counts", "table", "number", "whole number"]
"""How `inputs` makes an argument: drawn each time, a constant tensor, one of a whole number above 1, such as lengths,
another fixed tensor, or a number."""
FACTORS = (1.0, 8.0, 64.0, 512.0, 4096.0)
SMALL_FACTORS = tuple(2.0**power for power in range(-14, -4))
"""Steps so small that rounded contents may stay the same."""
SHARES = (0.1, 0.5)
"""Shares of a mask to invert."""


@dataclass(frozen=True)
class Redrawn:
    """Another value, its making in words, and the kind of the argument."""

    value: Any
    how: str
    kind: Kind


def redrawn(own: Any, other: Any, generator: torch.Generator) -> Iterator[Redrawn]:
    """Yield other values for `own`, given a second draw `other`; none for other objects than tensors or numbers."""
    if isinstance(own, float) and 0.5 <= own < 1.0:  # a decay: nearer to 1, more of the earlier steps count
        yield Redrawn(value := 1.0 - (1.0 - own) / 8.0, f"{value:g} for {own:g}", "number")
    if isinstance(own, torch.Tensor):
        yield from _redrawn_tensor(own, other, generator)
    elif isinstance(own, bool):
        yield Redrawn(not own, "turned round", "whole number")
    elif isinstance(own, int):
        yield from (Redrawn(value, f"{value} for {own}", "whole number") for value in (own + 1, own - 1, 2 * own))
    elif isinstance(own, float):
        first = 0.5 * own if own else 0.25  # a share stays a share, a positive number positive
        values = [first, *(factor * (own or 0.25) for factor in FACTORS[1:])]
        yield from (Redrawn(value, f"{value:g} for {own:g}", "number") for value in values)


def _redrawn_tensor(own: torch.Tensor, other: Any, generator: torch.Generator) -> Iterator[Redrawn]:
    if isinstance(other, torch.Tensor) and not same(own, other):
        yield Redrawn(other, "drawn anew", "drawn")
        if is_real(own) and own.shape == other.shape:
            for factor in FACTORS[1:]:
                yield Redrawn(_as(own, other.float() * factor), f"drawn anew, times {factor:g}", "drawn")
        return
    if not own.numel():
        return
    constant = bool((own == own.reshape(-1)[0]).all())
    kind: Kind = "constant" if constant else "table"
    if is_real(own):
        yield from _redrawn_real(own, kind, generator)
    elif own.dtype == torch.bool:
        for share in SHARES:
            turned = torch.rand(own.shape, generator=generator) < share
            yield Redrawn(own ^ turned, f"turned round in {share:.0%} of its places", kind)
    elif constant and own.reshape(-1)[0] == 1:  # a mask that lets all through
        for share in SHARES:
            kept = torch.rand(own.shape, generator=generator) >= share
            yield Redrawn(own.where(kept, torch.zeros_like(own)), f"0 in {share:.0%} of its places", kind)
    elif constant and not (own.is_floating_point() or own.is_complex()) and int(own.reshape(-1)[0]) > 1:
        yield _lowered(own, generator)
    if not constant:
        order = torch.randperm(own.numel(), generator=generator)
        yield Redrawn(own.reshape(-1)[order].view(own.shape), "its elements in another order", kind)
        back = torch.arange(own.numel()).flip(0)  # torch flips no float8
        yield Redrawn(own.reshape(-1)[back].view(own.shape), "its elements in reverse order", kind)


def _lowered(own: torch.Tensor, generator: torch.Generator) -> Redrawn:
    """Return a tensor of one whole number with smaller positive ones in half of its places, one place at least."""
    most, lowered = int(own.reshape(-1)[0]), own.clone().reshape(-1)
    places = torch.randperm(own.numel(), generator=generator)[: (own.numel() + 1) // 2]
    lowered[places] = torch.randint(1, most, places.shape, generator=generator).to(own.dtype)
    return Redrawn(lowered.view(own.shape), f"1 to {most - 1} for {most} in half of its places", "counts")


def _redrawn_real(own: torch.Tensor, kind: Kind, generator: torch.Generator) -> Iterator[Redrawn]:
    for factor in FACTORS:
        drawn = torch.rand(own.shape, generator=generator)
        if kind == "constant" and not own.any():
            yield Redrawn(_as(own, drawn * factor), f"up to {factor:g} for 0", kind)
        else:
            yield Redrawn(
                _as(own, own.float() * (0.5 + drawn) * factor), f"times {factor / 2:g} to {1.5 * factor:g}", kind
            )


def _as(own: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    return values.to(own.dtype)
