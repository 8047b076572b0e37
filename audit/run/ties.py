"""Runs in a child: which elements of a right result hang on ties between inputs, as argmax, sort and top-k break them.

Every real input is moved in float64 by less than any gap between different numbers of its own type, once up and once
down: what was different keeps its order, what was equal comes in one order and then in the other. A result that is
another one then is a matter of how ties are broken, or lies on a step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch

from audit.run import correctness
from audit.run.containers import leaves, rebuilt

SHARE, LEAST = 2.0**-36, 2.0**-160
"""How far a number moves at most, in shares of itself and beside that: float32 has 2**-24 and 2**-149."""
MOST_TIED = 0.01
"""A larger share of elements that hang on ties are ties that the inputs are meant to have; then they count."""
REFUSED = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""The exceptions of a reference for arguments it does not take."""
Oracle = Callable[[list[Any]], torch.Tensor]


def alternatives(oracle: Oracle, values: list[Any], want: torch.Tensor, seed: int) -> list[torch.Tensor]:
    """Other right results of integers, float64, where a few elements hang on ties; else none.

    Args:
        oracle: what is right for arguments.
        values: the arguments.
        want: what is right for those, float64.
        seed: of the moves.
    """
    found = [one for sign in (1, -1) if (one := _moved(oracle, values, want, seed, sign)) is not None]
    shares = [float((one != want).double().mean()) for one in found]
    return found if found and 0.0 < max(shares) <= MOST_TIED else []


def needed(oracle: Oracle, values: list[Any], want: torch.Tensor, seed: int, *, share: float = SHARE) -> float | None:
    """The relative tolerance that a result needs whose inputs were moved by at most that share; None where none is
    enough. With the smallest share, that is right however ties are broken."""
    moves = (_moved(oracle, values, want, seed, sign, share) for sign in (1, -1))  # a share of one may not grow
    moved = next((one for one in moves if one is not None), None)
    return None if moved is None else correctness.needed(moved, want)


def _moved(
    oracle: Oracle, values: list[Any], want: torch.Tensor, seed: int, sign: int, share: float = SHARE
) -> torch.Tensor | None:
    generator = torch.Generator().manual_seed(seed)
    try:
        result = oracle(rebuilt(values, [_nudged(x, generator, sign * share) for x in leaves(values)]))
    except REFUSED:
        return None
    return result if result.shape == want.shape else None


def _nudged(x: Any, generator: torch.Generator, share: float) -> Any:
    if not isinstance(x, torch.Tensor) or not x.is_floating_point():
        return x
    step = torch.rand(x.shape, generator=generator, dtype=torch.float64)
    return x.double() * (1.0 + share * step) + math.copysign(LEAST, share) * step
