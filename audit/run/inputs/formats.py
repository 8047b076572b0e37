"""Lower number formats, and the tolerances that the reference of a case itself needs, in them too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import torch

from audit.run.calls import correctness
from audit.run.calls.containers import leaves, rebuilt
from audit.run.inputs import ties
from audit.run.inputs.problem import Problem
from audit.run.inputs.transforms import is_real

TIES, ROUNDING = "ties", "rounding"
"""Headroom keys: the tolerance that covers any breaking of ties between inputs, and that of a result whose inputs are
moved by `ties.ROUNDED_BY`. Where inputs cancel, that is far more than a reference needs that sums in a lucky order."""

TF32_DROPPED = 13
"""Bits of a float32's mantissa that TF32 lacks: 23 - 10."""


def tf32(x: torch.Tensor) -> torch.Tensor:
    """Round a float32 tensor to TF32, to nearest, ties to even."""
    if x.dtype != torch.float32:
        return x.to(x.dtype)
    bits = x.contiguous().view(torch.int32)
    half = (1 << (TF32_DROPPED - 1)) - 1
    rounded = bits + half + ((bits >> TF32_DROPPED) & 1)
    return torch.where(x.isfinite(), (rounded & -(1 << TF32_DROPPED)).view(torch.float32), x)


def split_fp16(x: torch.Tensor) -> torch.Tensor:
    """Return the sum of a tensor's fp16 rounding and of the fp16 rounding of the rest."""
    first = x.to(torch.float16).to(x.dtype)
    return first + (x - first).to(torch.float16).to(x.dtype)


FORMATS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "split_fp16": split_fp16,
    "tf32": tf32,
    "fp16": lambda x: x.to(torch.float16).to(x.dtype),
    "bf16": lambda x: x.to(torch.bfloat16).to(x.dtype),
}
"""In order of falling range or precision."""
ROUNDS_BY = {"split_fp16": 2.0**-22, "tf32": 2.0**-11, "fp16": 2.0**-11, "bf16": 2.0**-8}
"""The largest relative error of rounding to each, within its range."""


def bits(case: Problem) -> dict[str, float | None]:
    """Return the effective bits of the reference, and of the oracle on inputs rounded to each lower format."""
    found = {"fp32": correctness.effective_bits(case.got.double(), case.want)}
    for name, low in _in_formats(case, case.oracle, case.values, _rounded):
        own = None if low is None else low.to(getattr(torch, case.dtype)).double()
        found[name] = None if own is None else correctness.effective_bits(own, case.want)
    return found


def headroom(case: Problem, values: list[Any]) -> dict[str, float | None]:
    """Return the tolerances that the reference needs: as it is, computed in each format, with ties broken otherwise,
    and with rounded intermediate values; None: no finite one."""
    oracle, want, own = case.in_units(values)
    found = {"fp32": correctness.needed(own, want)}
    change = _as_computed if getattr(torch, case.dtype).is_floating_point else _rounded
    for name, low in _in_formats(case, oracle, values, change):
        found[name] = None if low is None else correctness.needed(low, want)
    found[TIES] = case.moves(oracle, values, want, 7).needed()
    found[ROUNDING] = case.moves(oracle, values, want, 8).needed(ties.ROUNDED_BY)
    return found


def with_ties(case: Problem, values: list[Any]) -> dict[str, float | None]:
    """Return TIES and ROUNDING with equal numbers moved alike; empty where the reference breaks ties by a function
    whose choice is free, as `topk` does. Elsewhere it says what is right for equal numbers: half a point, for instance.
    """
    oracle, want, _ = case.in_units(values)
    moves = case.moves(oracle, values, want, 7, alike=True)
    return {} if moves.breaks_ties else {TIES: moves.needed(), ROUNDING: moves.needed(ties.ROUNDED_BY)}


def need(case: Problem, values: list[Any]) -> float | None:
    """Return the tolerance the reference itself needs; None: no finite one."""
    _, want, own = case.in_units(values)
    return correctness.needed(own, want)


def needs(case: Problem, values: list[Any]) -> float:
    """Return the tolerance that the reference needs, also with rounded intermediate values; inf: no finite one."""
    case.hold(values)
    oracle, want, own = case.in_units(values)
    needed = correctness.needed(own, want)
    rounding = case.moves(oracle, values, want, 8).needed(ties.ROUNDED_BY)
    return math.inf if needed is None or rounding is None else max(needed, rounding)


Changed = Callable[[torch.Tensor, str, torch.Generator], torch.Tensor]


def _in_formats(
    case: Problem, oracle: ties.Oracle, values: list[Any], change: Changed
) -> Iterator[tuple[str, torch.Tensor | None]]:
    """Yield the oracle's result for inputs changed for each lower format; None where it refuses them: a rounded matrix
    may have no factors, and a rounded number be infinite."""
    for name in FORMATS:
        draw = case.generator(9, device=case.device)
        try:
            flat = [change(x.to(case.device), name, draw) if is_real(x) else x for x in leaves(values)]
            yield name, oracle(rebuilt(values, flat))
        except ties.REFUSED:
            yield name, None


def _rounded(x: torch.Tensor, name: str, _: torch.Generator) -> torch.Tensor:
    return FORMATS[name](x)


def _as_computed(x: torch.Tensor, name: str, generator: torch.Generator) -> torch.Tensor:
    """Return a tensor that moves a result as computing it in that format does: rounded to it, and where it holds such
    numbers already, moved in float64 as far as a rounding moves an intermediate value."""
    low = FORMATS[name](x)
    if not torch.equal(low, x):
        return low
    step = 2.0 * torch.rand(x.shape, generator=generator, dtype=torch.float64, device=x.device) - 1.0
    return x.double() * (1.0 + ROUNDS_BY[name] * step)
