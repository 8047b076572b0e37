"""Changes of a case's arguments, each large enough to change the right result.

A change that leaves the right result as it is tests nothing. So each is tried from its smallest form on, until the
reference's result moves by more than two right results may differ. An argument that `inputs` draws is drawn again; a
fixed one keeps the properties that a kernel may rely on: a constant its sign, a table its zeros and signs, indices
their range. Tables change in `one_argument` alone, and every change keeps the structure of the draws, see `structure`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import torch

from audit.run.calls import correctness
from audit.run.calls.containers import leaves, named_leaves, rebuilt
from audit.run.imported_task import Task, positional
from audit.run.inputs import formats, ties
from audit.run.inputs.discriminating import OTHER, OWN, Discriminator
from audit.run.inputs.problem import Problem
from audit.run.inputs.redrawn import FACTORS, SMALL_FACTORS, Redrawn, redrawn
from audit.run.inputs.structure import ORDERS, reordered, same
from audit.run.inputs.transforms import is_real, one_moved, two_exchanged, whole, with_value

MOST_EXCHANGED = 4
"""Attempts to move the right result by exchanging two elements of a tensor, for each tensor."""
NONFINITE = {"nan": math.nan, "inf": math.inf}
MORE_PLACES = 15
"""Random places for a NaN and an infinity, after the last one: strided windows leave out many."""
Variation = tuple[str, list[Any], dict[str, Any]]
"""A name, arguments, and further keys of the event."""


class Change(NamedTuple):
    """A candidate, its arguments, and the number of elements of the right result that it moves."""

    candidate: Any
    values: list[Any]
    moved: int


def one_element(discriminator: Discriminator) -> Iterator[Variation]:
    """Yield arguments with one element moved: the last one, a random one, one in the middle of a tensor, one in the
    middle of a constant tensor, and one by the least amount that shows."""
    problem = discriminator.problem
    real, first = _real(problem), next(iter(_filled(problem)), None)
    if first is None:
        return
    shares = torch.rand(6, generator=problem.generator(2)).tolist()
    fixed = [leaf for leaf in real if bool((problem.flat[leaf] == problem.flat[leaf].reshape(-1)[0]).all())]
    places = {
        "last_element": (1.0, first),
        "one_element": (shares[0], first),
        "middle_element": (0.25 + 0.5 * shares[1], real[int(shares[2] * len(real))] if real else first),
    }
    if fixed:
        tensor = fixed[int(shares[5] * len(fixed))]
        last = problem.flat[tensor].numel() - 1
        odd = int((0.25 + 0.5 * shares[4]) * last) | 1  # a regular sample takes even indices
        places["fixed_element"] = (min(odd / last, 1.0) if last else 0.0, tensor)
    for name, (position, leaf) in places.items():
        steps = ((one, _moved_by(problem, position, leaf, one)) for one in FACTORS)
        if (found := until_moved(discriminator, steps, problem.values)) is not None:
            yield name, found.values, {"moved": found.moved, "steps": found.candidate}
    if (least := _least_moved(discriminator, shares[3], first)) is not None:
        yield "slightly_moved", least.values, {"moved": least.moved}


def _least_moved(discriminator: Discriminator, position: float, leaf: int) -> Change | None:
    """Return the change by the least of SMALL_FACTORS that moves the right result; a larger one is taken to move it
    too."""
    problem, found = discriminator.problem, dict[float, Change]()

    def moves(factor: float) -> bool:
        step = (factor, _moved_by(problem, position, leaf, factor))
        if (change := until_moved(discriminator, [step], problem.values)) is not None and change.moved:
            found[factor] = change
        return factor in found

    bisect_left(SMALL_FACTORS, True, key=moves)
    return found[min(found)] if found else None


def _real(problem: Problem) -> list[int]:
    """Return the numbers of the real tensors with an element other than zero, without tables."""
    return [leaf for leaf in _filled(problem) if bool(problem.flat[leaf].any())]


def _filled(problem: Problem) -> list[int]:
    """Return the numbers of the real tensors with elements, without tables."""
    return [leaf for leaf, x in enumerate(problem.flat) if is_real(x) and x.numel() and leaf not in problem.tables]


def whole_numbers(discriminator: Discriminator) -> Iterator[Variation]:
    """Yield whole numbers, whose sums are exact in any order, and the same with two elements exchanged."""
    problem = discriminator.problem
    real, draw = _real(problem), problem.generator(6)
    if not real:
        return
    flat = whole(problem.flat, draw)
    base = problem.arguments(flat)
    if problem.unchanged(base):
        return
    flat = leaves(base) if problem.keeps else flat
    yield "whole_numbers", base, {}
    order = torch.randperm(len(real), generator=draw).tolist()
    exchanged = (rebuilt(base, two_exchanged(flat, real[one], draw)) for one in order * MOST_EXCHANGED)
    tries = ((None, problem.agreed(values, base)) for values in exchanged)
    if (found := until_moved(discriminator, tries, base)) is not None and found.moved:
        yield "two_exchanged", found.values, {"moved": found.moved}


def one_argument(discriminator: Discriminator) -> Iterator[Variation]:
    """Yield arguments with one leaf replaced, each in turn, among discriminating inputs where there are any."""
    problem = discriminator.problem
    own, others = (
        (discriminator.drawn(OWN), discriminator.drawn(OTHER))
        if discriminator.offers
        else (problem.values, problem.others)
    )
    flat, other = leaves(own), leaves(others)
    if len(flat) != len(other):
        return

    def replaced(index: int) -> Iterator[tuple[Redrawn, list[Any]]]:
        for one in redrawn(flat[index], other[index], problem.generator(7)):
            yield one, rebuilt(own, [*flat[:index], one.value, *flat[index + 1 :]])

    for index, name in enumerate(names(problem)):
        found = until_moved(discriminator, ((one, problem.agreed(made, own)) for one, made in replaced(index)), own)
        if problem.structures and (found is None or not found.moved):  # a hint at most: a table in another order
            loose = ((one, problem.agreed_copies(made)) for one, made in replaced(index) if one.kind == "table")
            found = until_moved(discriminator, loose, own) or found
        if found is not None:
            yield name, found.values, {"moved": found.moved, "how": found.candidate.how, "kind": found.candidate.kind}


def another_order(discriminator: Discriminator) -> Iterator[Variation]:
    """Yield arguments with one leaf's numbers in another order, where every draw has it and other structure stays."""
    problem, own = discriminator.problem, discriminator.problem.flat
    found = ((leaf, kind) for leaf, kinds in problem.structures.of.items() for kind in kinds if kind in ORDERS)
    for leaf, order in found:
        flat = ([*own[:leaf], x, *own[leaf + 1 :]] for x in reordered(own[leaf], order, problem.generator(12)))
        made = (rebuilt(problem.values, one) for one in flat if problem.structures.hold(one, but=(leaf, order)))
        change = until_moved(discriminator, ((None, problem.agreed_copies(one)) for one in made), problem.values)
        if change is not None and change.moved and not same(own[leaf], leaves(problem.others)[leaf]):
            yield f"reordered_{names(problem)[leaf]}", change.values, {"moved": change.moved, "how": order.name}


def nonfinite_element(discriminator: Discriminator) -> Iterator[Variation]:
    """Yield arguments with a NaN and with an infinity at one place of the first real tensor whose structure allows a
    NaN: the first of a few on which the right result depends, else the last one."""
    problem = discriminator.problem
    free = (leaf for leaf in _filled(problem) if not problem.unchanged(_with(problem, leaf, math.nan, 1.0)))
    if (first := next(free, None)) is None:
        return
    places = [1.0, *torch.rand(MORE_PLACES, generator=problem.generator(5)).tolist()]
    tried = ((place, _with(problem, first, value, place)) for place in places for value in NONFINITE.values())
    chosen = next((place for place, values in tried if _changes(problem, values)), places[0])
    for name, value in NONFINITE.items():
        if not problem.unchanged(values := _with(problem, first, value, chosen)):
            yield name, values, {}


def _with(problem: Problem, leaf: int, value: float, position: float) -> list[Any]:
    return problem.arguments(with_value(problem.flat, leaf, value, position=position))


def _changes(problem: Problem, values: list[Any]) -> bool:
    """Return whether the right result for those arguments differs from the case's own, or there is none."""
    problem.hold(values)
    try:
        return not problem.unchanged(values) and not same(problem.want, problem.oracle(values))
    except ties.REFUSED:
        return True


def fixed_redrawn(discriminator: Discriminator) -> list[Any] | None:
    """Return arguments with all fixed constant tensors redrawn; None where the right result does not move."""
    problem = discriminator.problem
    drawn = [
        list(redrawn(own, other, problem.generator(7))) if is_real(own) else []
        for own, other in zip(problem.flat, leaves(problem.others), strict=True)
    ]
    fixed = [of_one if of_one and of_one[0].kind == "constant" else [] for of_one in drawn]
    candidates = (
        (step, problem.arguments([_at(of_one, step, own) for of_one, own in zip(fixed, problem.flat, strict=True)]))
        for step in range(max(map(len, fixed), default=0))
    )
    found = until_moved(discriminator, candidates, problem.values)
    return found.values if found is not None and found.moved else None


def _at(candidates: list[Redrawn], step: int, own: Any) -> Any:
    """Return the candidate of that step, or the last one; `own` where there are none."""
    return candidates[min(step, len(candidates) - 1)].value if candidates else own


def names(problem: Problem) -> list[str]:
    """Return a name for each leaf of the arguments: its position, its parameter in the task, and its keys."""
    reference = problem.reference.reference
    task = getattr(reference, "__self__", None)
    given = task.parameters() if isinstance(task, Task) else positional(reference)
    called = {index: f"_{name}" for index, name in enumerate(given)}
    return [
        f"input_{index}{called.get(index, '')}{keys}"
        for index, value in enumerate(problem.values)
        for keys, _ in named_leaves(value)
    ]


def until_moved(
    discriminator: Discriminator, candidates: Iterable[tuple[Any, list[Any]]], base: list[Any]
) -> Change | None:
    """Return the first candidate that moves the right result of `base`, else the last comparable one, else None."""
    problem, found = discriminator.problem, None
    try:
        problem.hold(base)
        was, need = problem.oracle(base), formats.need(problem, base)
    except ties.REFUSED:
        return None
    limit = max(discriminator.relative / 2, 2 * (need or 0.0))
    for candidate, values in candidates:
        moved = None if problem.unchanged(values, base) else _moved(discriminator, values, was, limit)
        if moved is not None:
            found = Change(candidate, values, moved)
        if moved:
            break
    return found


def _moved(discriminator: Discriminator, values: list[Any], was: torch.Tensor, limit: float) -> int | None:
    """Return the number of elements of the right result that those arguments move; None where it is not comparable.

    That is: the reference refuses the arguments, returns another shape, or itself needs more of the tolerance than
    `limit`, which is half of it, or twice its need at the base. Results that are infinite elsewhere than before are
    no part of a task either: an infinity meets the zeros of a mask.
    """
    try:
        discriminator.problem.hold(values)
        now = discriminator.problem.oracle(values)
        if now.shape != was.shape or not torch.equal(now.isfinite(), was.isfinite()):
            return None
        need = formats.need(discriminator.problem, values)
        moved = correctness.moved(was, now, relative=discriminator.relative, least_scale=discriminator.least_scale)
    except (*ties.REFUSED, correctness.NothingFinite):
        return None
    if need is None or need > limit:
        return None
    return int(torch.count_nonzero(moved))


def _moved_by(problem: Problem, position: float, leaf: int, factor: float) -> list[Any]:
    return problem.arguments(one_moved(problem.flat, leaf, position, factor=factor))
