"""Other inputs of a case by name: those that a variation has, and those of the claimed shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from audit.run.calls.containers import leaves
from audit.run.inputs import formats, ties
from audit.run.inputs.changes import (
    Variation,
    another_order,
    fixed_redrawn,
    nonfinite_element,
    one_argument,
    one_element,
    whole_numbers,
)
from audit.run.inputs.discriminating import OWN, Discriminator, graded_inputs
from audit.run.inputs.problem import Problem
from audit.run.inputs.transforms import (
    DISTRIBUTIONS,
    extreme_bytes,
    is_real,
    leaves_range,
    opposed,
    redistributed,
    reordered_masks,
)

LEAST_FAR = 5
"""`probes.claimed_blocks` takes a result at such inputs as wrong from twice as many tolerances on."""
DISCRIMINATING, GRADED, REDRAWN = "discriminating", "graded", "redrawn"
OTHERS: dict[str, Callable[[Discriminator], list[Any] | None]] = {
    GRADED: lambda case: graded_inputs(case.problem, case.relative),
    REDRAWN: fixed_redrawn,
}
"""Other inputs of a case: graded ones where a result has many inputs for each element, and redrawn fixed inputs,
constant tensors that the task always makes alike."""
_DRAWN = ("distributions", DISCRIMINATING, GRADED, "whole_numbers")
"""Groups of values unlike a benchmark's, where the reference itself may not be right: its headroom is measured."""


def headroom(discriminator: Discriminator, values: list[Any], group: str) -> dict[str, Any]:
    """Return the `headroom` of a group's arguments, and whether they are `tied`: whole numbers whose right result hangs
    on ties, which the reference has a rule for."""
    case = discriminator.problem
    found = formats.headroom(case, values) if group in _DRAWN else {}
    if group != "whole_numbers":
        return {"headroom": found}
    need = found[formats.TIES]
    kept = {} if need is not None and need <= discriminator.relative / 2 else formats.with_ties(case, values)
    return {"headroom": found | kept, "tied": bool(kept)}


def _every_distribution(case: Problem) -> Iterator[tuple[str, list[Any]]]:
    """Yield our distributions that the structure of the task's draws allows, then those of `reference.py`."""
    yield from ((name, values) for name, values in _our_distributions(case) if not case.unchanged(values))
    if hasattr(case.reference, "distributions"):
        yield from case.reference.distributions(case.shape, case.generator(3)).items()


def _our_distributions(case: Problem) -> Iterator[tuple[str, list[Any]]]:
    if any(is_real(x) for x in case.flat):
        for salt, name in enumerate(DISTRIBUTIONS, start=16):
            yield name, case.arguments(redistributed(case.flat, name, case.generator(salt)))
    if (flat := opposed(case.flat, but=case.tables)) is not None:
        yield "negative", case.arguments(flat)
    for name, lowest in (("lowest_bytes", True), ("highest_bytes", False)):
        if (flat := extreme_bytes(case.flat, lowest=lowest)) is not None:
            yield name, case.arguments(flat)
    if (flat := reordered_masks(case.flat, lambda: leaves(case.others), case.generator(4))) is not None:
        yield "reordered_mask", case.arguments(flat)


def distributed(discriminator: Discriminator, name: str | None) -> list[Any] | None:
    """Return the inputs of that distribution; None where they leave the range of the task's draws, or where the
    reference, or one with rounded intermediate values, needs LEAST_FAR times the tolerance."""
    case = discriminator.problem
    values = next((made for one, made in _every_distribution(case) if one == name), None)
    if values is None or leaves_range(leaves(values), case.ranges):
        return None
    try:
        stands = formats.needs(case, values) <= LEAST_FAR * discriminator.relative
    except ties.REFUSED:
        return None
    return values if stands else None


GROUPS: dict[str, Callable[[Discriminator], Iterator[Variation]]] = {
    "other": lambda made: iter([("other_values", made.problem.others, {})]),
    "moved": one_element,
    "reordered": another_order,
    "whole_numbers": whole_numbers,
    DISCRIMINATING: lambda made: iter([(DISCRIMINATING, made.drawn(OWN), {})] if made.offers else []),
    GRADED: lambda made: ((GRADED, values, {}) for values in [OTHERS[GRADED](made)] if values is not None),
    "inputs": one_argument,
    "distributions": lambda made: ((name, values, {}) for name, values in _every_distribution(made.problem)),
    "nonfinite": nonfinite_element,
}
