"""Runs in a child: changes of a case's arguments, each large enough for the right result to show it.

A change that leaves the right result as it is asks a kernel nothing. So each is tried from its gentlest form on, until
the reference's own answer moves by more than two right results may differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from inspect import signature
from typing import Any, NamedTuple

import torch

from audit.run import correctness, ties
from audit.run.containers import leaves, named_leaves, rebuilt
from audit.run.discriminating import OTHER, OWN, Telling
from audit.run.problem import Problem
from audit.run.redrawn import FACTORS, redrawn
from audit.run.transforms import is_real, one_moved, real_leaves, two_exchanged, whole

MOST_EXCHANGED = 4
"""Times that each tensor has two elements exchanged until the right result moves."""
Variation = tuple[str, list[Any], dict[str, Any]]
"""Its name, its arguments, and what else is told of it."""


class Change(NamedTuple):
    """A candidate, the arguments it stands for, and how many elements of the right result it moves."""

    candidate: Any
    values: list[Any]
    moved: int


def one_element(telling: Telling) -> Iterator[Variation]:
    """One element moved: the last one, any one, and one in the middle of any tensor."""
    problem = telling.problem
    real = real_leaves(problem.flat)
    if not any(is_real(x) and x.numel() for x in problem.flat):
        return
    shares = torch.rand(3, generator=problem.generator(2)).tolist()
    places = {
        "last_element": (1.0, None),
        "one_element": (shares[0], None),
        "middle_element": (0.25 + 0.5 * shares[1], real[int(shares[2] * len(real))] if real else None),
    }
    for name, (position, leaf) in places.items():
        steps = ((one, _moved_by(problem, position, leaf, one)) for one in FACTORS)
        if (found := until_moved(telling, steps, problem.values)) is not None:
            yield name, found.values, {"moved": found.moved}


def whole_numbers(telling: Telling) -> Iterator[Variation]:
    """Whole numbers, whose sums are exact in any order, and the same with two elements in each other's place."""
    problem = telling.problem
    real, draw = real_leaves(problem.flat), problem.generator(6)
    if not real:
        return
    flat = whole(problem.flat, draw)
    base = problem.arguments(flat)
    yield "whole_numbers", base, {}
    order = torch.randperm(len(real), generator=draw).tolist()
    tries = ((one, problem.arguments(two_exchanged(flat, real[one], draw))) for one in order * MOST_EXCHANGED)
    if (found := until_moved(telling, tries, base)) is not None and found.moved:
        yield "two_exchanged", found.values, {"moved": found.moved}


def one_argument(telling: Telling) -> Iterator[Variation]:
    """Each argument alone replaced, within containers each leaf; among discriminating ones where there are such."""
    problem = telling.problem
    own, others = (telling.drawn(OWN), telling.drawn(OTHER)) if telling.offers else (problem.values, problem.others)
    flat, other = leaves(own), leaves(others)
    if len(flat) != len(other):
        return
    for place, name in enumerate(names(problem)):
        candidates = (
            (one, rebuilt(own, [*flat[:place], one.value, *flat[place + 1 :]]))
            for one in redrawn(flat[place], other[place], problem.generator(7))
        )
        if (found := until_moved(telling, candidates, own)) is not None:
            yield name, found.values, {"moved": found.moved, "how": found.candidate.how, "kind": found.candidate.kind}


def names(problem: Problem) -> list[str]:
    """A name for each leaf of the arguments: its place, and what the reference and the containers call it."""
    given = signature(problem.reference.reference).parameters.values()
    called = {index: f"_{one.name}" for index, one in enumerate(given) if one.kind is not one.VAR_POSITIONAL}
    return [
        f"input_{index}{called.get(index, '')}{keys}"
        for index, value in enumerate(problem.values)
        for keys, _ in named_leaves(value)
    ]


def until_moved(telling: Telling, candidates: Iterable[tuple[Any, list[Any]]], base: list[Any]) -> Change | None:
    """The first of the candidates that moves the right result of `base`, else the last sound one; None without one."""
    problem, found = telling.problem, None
    try:
        was = problem.oracle(base)
        need = correctness.needed(problem.eager(base).double(), was)
    except ties.REFUSED:
        return None
    limit = max(telling.relative / 2, 2 * (need or 0.0))
    for candidate, values in candidates:
        moved = _moved(telling, values, was, limit)
        if moved is not None:
            found = Change(candidate, values, moved)
        if moved:
            break
    return found


def _moved(telling: Telling, values: list[Any], was: torch.Tensor, limit: float) -> int | None:
    """Elements of the right result that those arguments move; None where nothing follows from them.

    That is where the reference refuses them, gives another shape, or itself needs more of the tolerance than `limit`:
    half of it, or twice what it needs for the arguments that were changed.
    """
    try:
        now = telling.problem.oracle(values)
        if now.shape != was.shape:
            return None
        need = correctness.needed(telling.problem.eager(values).double(), now)
        moved = correctness.moved(was, now, relative=telling.relative, least_scale=telling.problem.size)
    except (*ties.REFUSED, correctness.NothingFinite):
        return None
    if need is None or need > limit:
        return None
    return int(torch.count_nonzero(moved))


def _moved_by(problem: Problem, position: float, leaf: int | None, factor: float) -> list[Any]:
    return problem.arguments(one_moved(problem.flat, position, leaf=leaf, factor=factor))
