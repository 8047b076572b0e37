"""Runs in a child: which elements of a right result hang on ties between inputs, as argmax, sort and top-k break them.

Every real input is moved in float64 by less than any gap between different numbers of its own type, once up and once
down: what was different keeps its order, what was equal comes in one order and then in the other. A result that is
another one then is a matter of how ties are broken, or lies on a step. Zeros move as far as the largest number does
where the reference calls a function that breaks ties: through an `exp`, less would be lost.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode  # a TorchDispatchMode imports a second of torch first

from audit.run import correctness
from audit.run.containers import leaves, rebuilt

SHARE, LEAST = 2.0**-36, 2.0**-160
"""How far a number moves at most, in shares of itself and beside that: float32 has 2**-24 and 2**-149."""
ROUNDED_BY = 2.0**-19
"""16 epsilons of float32: inputs moved by that move a result as the roundings of a long sum do."""
BREAKS_TIES = re.compile(
    r"topk|sort|argsort|argmax|argmin|kthvalue|median|nanmedian|mode|cummax|cummin|searchsorted|bucketize|\w*max_pool\w*"
)
"""Functions of torch whose result hangs on which of two equal numbers comes first, beside `max` and `min` of rows."""
MOST_TIED = 0.01
"""A larger share of elements that hang on ties are ties that the task's own inputs are meant to have: they count."""
REFUSED = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""The exceptions of a reference for arguments it does not take."""
Oracle = Callable[[list[Any]], torch.Tensor]


class Tied(ValueError):
    """More elements of a right result of integers hang on ties than MOST_TIED, at inputs that the audit made."""


class TieBreaks(TorchFunctionMode):
    """Notes in `seen` whether a function of torch that breaks ties ran under it."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        of_rows = name in ("max", "min") and (len(args) > 1 or "dim" in kwargs)
        self.seen = self.seen or of_rows or BREAKS_TIES.fullmatch(name) is not None
        return func(*args, **kwargs)


@dataclass(frozen=True)
class Moves:
    """Arguments with a right result, float64, and the moves of those arguments that the seed gives.

    `breaks_ties`: the oracle calls a function that does.
    """

    oracle: Oracle
    values: list[Any]
    want: torch.Tensor
    seed: int
    breaks_ties: bool

    def alternatives(self, *, own: bool) -> list[torch.Tensor]:
        """Other right results of integers, float64, where a few elements hang on ties or on a rounding.

        Args:
            own: the task draws such arguments itself. Whole numbers among other arguments are moved too.

        Raises:
            Tied: such arguments tell nothing.
        """
        tied = [] if own else list(self._both_ways(SHARE, whole=True))
        tied = tied or list(self._both_ways(SHARE))
        most = max(map(self._changed, tied), default=0.0)
        if most > MOST_TIED:
            if own:
                return []
            raise Tied(f"{most:.1%} of the right result hang on ties")
        found = [*tied, *self._both_ways(ROUNDED_BY)]
        return [one for one in found if 0.0 < self._changed(one) <= MOST_TIED]

    def needed(self, share: float = SHARE) -> float | None:
        """The relative tolerance that a result needs whose inputs were moved by at most that share; None where none is
        enough. With the smallest share, that is right however ties are broken."""
        moved = next(self._both_ways(share), None)  # a share of one may not grow
        return None if moved is None else correctness.needed(moved, self.want)

    def _changed(self, other: torch.Tensor) -> float:
        return float((other != self.want).double().mean())

    def _both_ways(self, share: float, *, whole: bool = False) -> Iterator[torch.Tensor]:
        """Give what comes of moves up and of moves down, where the oracle takes them."""
        for signed in (share, -share):
            generator = torch.Generator().manual_seed(self.seed)
            flat = [self._nudged(x, generator, signed, whole=whole) for x in leaves(self.values)]
            with suppress(*REFUSED):
                if (result := self.oracle(rebuilt(self.values, flat))).shape == self.want.shape:
                    yield result

    def _nudged(self, x: Any, generator: torch.Generator, share: float, *, whole: bool) -> Any:
        if not isinstance(x, torch.Tensor) or x.dtype == torch.bool or not (whole or x.is_floating_point()):
            return x
        step = torch.rand(x.shape, generator=generator, dtype=torch.float64)
        wide = x.double()
        moved = wide * (1.0 + share * step) + math.copysign(LEAST, share) * step
        finite = wide[wide.isfinite()]
        if not (self.breaks_ties and abs(share) == SHARE and finite.numel()):
            return moved
        return torch.where(wide == 0, share * (float(finite.abs().max()) or 1.0) * step, moved)
