"""Inputs that distinguish a right result from a trivial candidate.

`reference.py` may offer `discriminating(shape, generator)`. Where it does not, and a trivial candidate is right at the
case's own inputs, this module transforms draws, one way after another, until the reference's result varies and every
trivial candidate is wrong. Shapes, types, integers and plain numbers stay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import torch

from audit.run.calls import correctness
from audit.run.calls.containers import leaves, rebuilt
from audit.run.inputs import formats, ties
from audit.run.inputs.problem import Problem
from audit.run.inputs.transforms import graded, is_real, leaves_range

Values = list[Any]
Way = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
OWN, OTHER = 4, 5
"""Salts of two draws: one to test with, one that replaces single inputs."""
FACTOR, POWER = (1.5, 4.0), (2.0, 4.0)
"""The ranges of a tensor's factor and of the power of its values."""
MANY = 4096
"""Real input numbers for each result number above which half the inputs have nearly the same mean as all of them."""
GRADED_SALT = 40
FAR = 16.0


class Discriminator:
    """The discriminating inputs of one problem.

    Args:
        problem: the case.
        relative: the stated tolerance of the claim.
    """

    def __init__(self, problem: Problem, relative: float) -> None:
        self.problem, self._stated = problem, relative
        self._drawn: dict[tuple[Way, int], Values] = {}

    @cached_property
    def own(self) -> dict[str, int]:
        """The number of wrong elements of every trivial candidate at the case's own inputs.

        An input that equals the right result, here and at discriminating inputs, is left out: the task is to copy it.
        """
        copied = self._copies if self.offers else set()
        return {name: wrong for name, wrong in self._raw.items() if name not in copied}

    @property
    def offers(self) -> bool:
        """Whether discriminating inputs are known."""
        return self._offered is not None or self._way is not None

    def drawn(self, salt: int) -> Values:
        """Return discriminating inputs, the same for the same salt. Raises LookupError where there are none."""
        if self._offered is not None:
            values: Values = self._offered(self.problem.shape, self.problem.generator(salt))
            return values
        if self._way is None:
            raise LookupError("no inputs at which the task can tell are known")
        return self._changed(self._way, salt)

    def at(self, values: Values) -> dict[str, int]:
        """Return the number of wrong elements of every trivial candidate at other inputs, without copied inputs."""
        counted = self._counted(values, [self.problem.want])
        return {name: wrong for name, wrong in counted.items() if name not in self._copies}

    @property
    def _offered(self) -> Callable[..., Values] | None:
        return getattr(self.problem.reference, "discriminating", None)

    @cached_property
    def relative(self) -> float:
        """The tolerance for a result of this type."""
        return correctness.held_to(self._stated, self.problem.dtype)

    @cached_property
    def least_scale(self) -> float:
        """The rms of the case's result, and no less than its type resolves."""
        return max(self.problem.size, correctness.least_scale(self.problem.dtype, self.relative))

    @cached_property
    def _raw(self) -> dict[str, int]:
        problem = self.problem
        return self._counted(problem.values, [problem.oracle(problem.others)], least_scale=self.least_scale)

    @cached_property
    def _copies(self) -> set[str]:
        """The inputs that equal the result, at the case's own inputs and at discriminating ones."""
        drawn = self.drawn(OWN)
        return self._copied_here & copies(self.problem.oracle(drawn), drawn)

    @cached_property
    def _copied_here(self) -> set[str]:
        return copies(self.problem.want, self.problem.values)

    @cached_property
    def _way(self) -> Way | None:
        """The first transform that makes inputs discriminating; None where none does, or none is needed."""
        if all(self._raw.values()):
            return None
        found = next((way for way in WAYS.values() if self._discriminates(way, set())), None)
        if found is None and self._copied_here:  # no transform shows otherwise: the task is to copy an input
            found = next((way for way in WAYS.values() if self._discriminates(way, self._copied_here)), None)
        return found

    def _discriminates(self, way: Way, copied: set[str]) -> bool:
        try:
            one, other = self._changed(way, OWN), self._changed(way, OTHER)
            want, elsewhere = self.problem.oracle(one), self.problem.oracle(other)
            need = correctness.needed(self.problem.eager(one).double(), want)
        except ties.REFUSED:
            return False
        if need is None or need > self.relative / 2 or want.shape != self.problem.want.shape:
            return False
        if not torch.equal(want.isfinite(), self.problem.want.isfinite()):
            return False
        if one_number(want, self.relative):
            return False
        copied = copied & copies(want, one)
        counted = self._counted(one, [self.problem.want, elsewhere])
        return all(wrong for name, wrong in counted.items() if name not in copied)

    def _counted(self, values: Values, others: list[torch.Tensor], *, least_scale: float = 0.0) -> dict[str, int]:
        return wrong_elements(
            self.problem.oracle(values), others=others, inputs=values, relative=self.relative, least_scale=least_scale
        )

    def _changed(self, way: Way, salt: int) -> Values:
        """Return a draw changed in that way, the same object again until another way is asked for."""
        self._drawn = {key: values for key, values in self._drawn.items() if key[0] is way}
        if (way, salt) not in self._drawn:
            self._drawn[way, salt] = self._made(way, salt)
        return self._drawn[way, salt]

    def _made(self, way: Way, salt: int) -> Values:
        generator = self.problem.generator(32 + salt)
        drawn = self.problem.drawn(salt)
        flat = [way(x.double(), generator).to(x.dtype) if is_real(x) else x for x in leaves(drawn)]
        kept = [self.problem.flat[leaf] if leaf in self.problem.tables else x for leaf, x in enumerate(flat)]
        return self.problem.agreed(rebuilt(drawn, kept), drawn)


def _between(bounds: tuple[float, float], generator: torch.Generator) -> float:
    low, high = bounds
    return low + (high - low) * float(torch.rand((), generator=generator))


def _skewed(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Return other values between the least and the largest, most of them near the least; zeros stay."""
    power = _between(POWER, generator)
    if not x.numel() or not bool(x.isfinite().all()):
        return x
    low, high = x.min(), x.max()
    share = (x - low) / (high - low) if high > low else torch.zeros_like(x)
    return torch.where(x == 0, x, low + (high - low) * share**power)


def _rescaled(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return _between(FACTOR, generator) * x


def _shifted(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    return torch.where(x == 0, x, _rescaled(x, generator) + _between(FACTOR, generator))


def _uneven(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Add noise to a constant tensor, such as an untrained parameter; rescale others."""
    if x.numel() > 1 and bool((x == x.reshape(-1)[0]).all()):
        return x + torch.randn(x.shape, generator=generator, dtype=x.dtype)
    return _rescaled(x, generator)


def _rows_apart(x: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
    """Multiply each row, an index of the first dimension, by a factor of its own between 1 / FAR and FAR."""
    if not x.dim():
        return _rescaled(x, generator)
    rows = x.shape[0]
    places = torch.randperm(rows, generator=generator) + torch.rand(rows, generator=generator)
    factors = FAR ** (2.0 * places.to(x.dtype) / max(rows, 1) - 1.0)
    return x * factors.reshape(-1, *[1] * (x.dim() - 1))


def graded_inputs(problem: Problem, relative: float) -> Values | None:
    """Return inputs of which no regular part represents the whole, see `transforms.graded`; fixed inputs stay.

    None where the result has few inputs for each element, where such inputs leave the range of the task's draws, or
    where roundings need more than half of the tolerance `relative`.
    """
    drawn = sum(x.numel() for x in problem.flat if is_real(x))
    try:
        if drawn < MANY * problem.want.numel():
            return None
        pairs = zip(problem.flat, leaves(problem.others), strict=True)
        drawn_anew = [(x, is_real(x) and not torch.equal(x, other)) for x, other in pairs]
        flat = [graded(x, problem.generator(GRADED_SALT)) if anew else x for x, anew in drawn_anew]
        values = problem.arguments(flat)
        if problem.unchanged(values) or leaves_range(leaves(values), problem.ranges):
            return None
        stands = formats.needs(problem, values) <= correctness.held_to(relative, problem.dtype) / 2
    except ties.REFUSED:
        return None
    return values if stands else None


WAYS: dict[str, Way] = {
    "skewed": _skewed,
    "rescaled": _rescaled,
    "shifted": _shifted,
    "uneven": _uneven,
    "negated": lambda x, generator: -_shifted(x, generator),
    "far": lambda x, generator: FAR * _rescaled(x, generator),
    "rows apart": _rows_apart,
}
"""Transforms of a float64 tensor, in order of their distance from a benchmark's range."""


def wrong_elements(
    want: torch.Tensor,
    *,
    others: Sequence[torch.Tensor],
    inputs: Sequence[Any],
    relative: float,
    least_scale: float = 0.0,
) -> dict[str, int]:
    """Return the number of wrong elements of each trivial candidate, by its name, for the right result `want` of those
    inputs, float64. Of the right results for other inputs the one nearest to it counts. `least_scale` replaces the rms
    of `want` where that is smaller."""
    scale, counts = max(least_scale, correctness.rms(want)), dict[str, int]()
    for name, one in _candidates(want, others, inputs):
        wrong = correctness.count_wrong(one, want, relative=relative, scale=scale)
        counts[name] = min(wrong, counts.get(name, wrong))
    return counts


def copies(want: torch.Tensor, inputs: Sequence[Any]) -> set[str]:
    """Return the names of the inputs that equal `want`."""
    return {name for name, one in _inputs(want, inputs) if bool(correctness.same(one, want).all())}


def one_number(want: torch.Tensor, relative: float) -> bool:
    """Return whether a constant result would be right in all of several elements."""
    finite = want[want.isfinite()]
    middle = float(finite.mean()) if len(finite) else 0.0
    scale = correctness.rms(want)
    return want.numel() > 1 and bool(correctness.right(middle, want, relative=relative, scale=scale).all())


def _candidates(
    want: torch.Tensor, others: Sequence[torch.Tensor], inputs: Sequence[Any]
) -> Iterator[tuple[str, torch.Tensor | float]]:
    yield "zeros", 0.0
    for other in others:
        finite = other[other.isfinite()]
        if len(finite):
            yield "constant", float(finite.mean())
        if other.shape == want.shape:
            yield "previous_output", other
    yield from _inputs(want, inputs)


def _inputs(want: torch.Tensor, inputs: Sequence[Any]) -> Iterator[tuple[str, torch.Tensor]]:
    for index, x in enumerate(inputs):
        if isinstance(x, torch.Tensor) and x.shape == want.shape and not x.is_complex():
            yield f"input_{index}", x.to(want.device, torch.float64)
