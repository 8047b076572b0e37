"""Find elements of a right result that depend on ties between inputs, as argmax, sort and top-k do.

Every real input is moved in float64 by less than any gap between different numbers of its type, once up and once down:
different numbers keep their order, equal ones get one order and then the other. An element that changes depends on the
breaking of ties, or on a step. Where the reference calls a function that breaks ties, zeros move as far as the largest
number: a smaller move would vanish in an `exp`. The numbers that such a function gets are moved once more: a `relu`
or a distance of a point to itself makes equal numbers of different inputs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import torch
from torch.overrides import TorchFunctionMode  # a TorchDispatchMode imports a second of torch first

from audit.run.calls import correctness
from audit.run.calls.containers import leaves, rebuilt

SHARE, LEAST = 2.0**-36, 2.0**-160
"""The most that a number moves, relative and absolute; the resolution of float32 is 2**-24 and 2**-149."""
ROUNDED_BY = 2.0**-19
"""16 epsilons of float32: moves of the inputs that change a result as the roundings of a long sum do."""
BREAKS_TIES = re.compile(
    r"topk|sort|argsort|argmax|argmin|kthvalue|median|nanmedian|mode|cummax|cummin|searchsorted|bucketize|\w*max_pool\w*"
)
"""Functions of torch whose result depends on the order of equal numbers, in addition to `max` and `min` of rows."""
MOST_TIED = 0.01
"""Where more elements depend on ties, the task means its own inputs to have ties: they count."""
REFUSED = (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError)
"""The exceptions of a reference for arguments it does not take."""
GOLDEN = 0.6180339887498949
"""Multiples of it by whole numbers differ modulo 1."""
Oracle = Callable[[list[Any]], torch.Tensor]


class Tied(ValueError):
    """More than MOST_TIED of a right result of integers depends on ties, at inputs that the audit made."""


class TieBreaks(TorchFunctionMode):
    """Records in `seen` whether a function of torch that breaks ties ran under it.

    `moved`, where set, replaces the float64 numbers that such a function gets. Whole numbers stay: the `argmax` of
    zeros and ones is the first one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.seen = False
        self.moved: Callable[[torch.Tensor], torch.Tensor] | None = None

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name, kwargs = getattr(func, "__name__", ""), kwargs or {}
        of_rows = name in ("max", "min") and (len(args) > 1 or "dim" in kwargs)
        breaks = of_rows or BREAKS_TIES.fullmatch(name) is not None
        self.seen = self.seen or breaks
        if breaks and self.moved is not None and args and getattr(args[0], "dtype", None) == torch.float64:
            args = (self.moved(args[0]), *args[1:])
        return func(*args, **kwargs)


@dataclass(frozen=True)
class Moves:
    """Arguments with a right result, float64, and their moves by random numbers of the seed.

    `breaks_ties` is whether the oracle calls a function that breaks ties, `alike` whether equal numbers move alike, so
    that none of them is broken, `inside` the mode under which the oracle runs, where intermediate values move too.
    """

    oracle: Oracle
    values: list[Any]
    want: torch.Tensor
    seed: int
    breaks_ties: bool
    alike: bool = False
    inside: TieBreaks | None = None

    @property
    def hangs(self) -> bool:
        """Whether more than MOST_TIED of the result depends on ties, or it has no finite element."""
        try:
            scale = correctness.rms(self.want)
        except correctness.NothingFinite:
            return True
        most = MOST_TIED * self.want.numel()
        counted = (
            correctness.count_wrong(one, self.want, relative=ROUNDED_BY, scale=scale) for one in self._both_ways(SHARE)
        )
        return any(wrong > most for wrong in counted)

    def alternatives(self, *, own: bool) -> list[torch.Tensor]:
        """Return other right results of integers, float64, where a few elements depend on ties or on a rounding. Whole
        numbers among arguments that the task does not draw by its `own` are moved too. Raises Tied: too many elements
        depend on ties for a comparison."""
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
        """Return the relative tolerance of a result whose inputs are moved by at most that share; None where none is
        enough. With the smallest share it covers any breaking of ties."""
        moved = next(self._both_ways(share), None)  # a share of one may not grow
        return None if moved is None else correctness.needed(moved, self.want)

    def _changed(self, other: torch.Tensor) -> float:
        return float((other != self.want).double().mean())

    def _both_ways(self, share: float, *, whole: bool = False) -> Iterator[torch.Tensor]:
        """Yield the results of moves up and of moves down, where the oracle takes them."""
        for signed in (share, -share):
            generator = torch.Generator(self.want.device).manual_seed(self.seed)
            flat = [self._nudged(x, generator, signed, whole=whole) for x in leaves(self.values)]
            with suppress(*REFUSED), self._inside(generator, signed):
                if (result := self.oracle(rebuilt(self.values, flat))).shape == self.want.shape:
                    yield result

    @contextmanager
    def _inside(self, generator: torch.Generator, share: float) -> Iterator[None]:
        """Move the numbers that a function which breaks ties gets within the oracle, zeros too by next to nothing."""

        def moved(x: torch.Tensor) -> torch.Tensor:
            step = torch.rand(x.shape, generator=generator, dtype=x.dtype, device=generator.device).to(x.device)
            return x * (1.0 + math.copysign(SHARE, share) * step) + math.copysign(LEAST, share) * step

        if self.inside is None:
            yield
            return
        self.inside.moved = moved
        try:
            yield
        finally:
            self.inside.moved = None

    def _nudged(self, x: Any, generator: torch.Generator, share: float, *, whole: bool) -> Any:
        if not isinstance(x, torch.Tensor) or x.dtype == torch.bool or not (whole or x.is_floating_point()):
            return x
        wide = x.to(generator.device, torch.float64)
        step = torch.rand(x.shape, generator=generator, dtype=torch.float64, device=generator.device)
        step = GOLDEN * (wide + self.seed) % 1.0 if self.alike else step  # the same in every tensor
        moved = wide * (1.0 + share * step) + math.copysign(LEAST, share) * step
        if not (self.breaks_ties and abs(share) == SHARE):
            return moved
        finite = wide[wide.isfinite()]
        if not finite.numel():
            return moved
        return torch.where(wide == 0, share * (float(finite.abs().max()) or 1.0) * step, moved)
