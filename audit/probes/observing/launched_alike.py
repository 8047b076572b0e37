"""Does the host code launch at an importer's smaller shape what it launches at a shape of the claim?

A smaller shape counts for the claim where nothing that the source's numbers tell apart has changed. Host code may still
take a block or a kernel from a quotient of a size: `min(columns / 4, 1024)` threads are 256 for 1,024 columns. Where
the emulated device lists the launches at both shapes, the smaller one counts only if its kernels and their blocks are
those of the claimed shape, or of another shape of the claim whose residues and divisors it keeps. Grids and dynamic
shared memory grow with sizes and are not compared. Where the host code reads values back, launches may depend on them,
and where it launches nothing at the claimed shape, `kernels_ran` answers: the shape counts as before. Numbers may miss
what a source tells apart, a shift by 9 for instance: where the claimed shape itself is right, it decides; where all of
its blocks can be run, every question is asked there.
"""

from __future__ import annotations

import math
from dataclasses import replace

from audit.claims.shapes.counting import MOST_WORK, counts, kept_of
from audit.claims.shapes.numbers import of_claim
from audit.model import Finding, Shape
from audit.model.errors import AuditError
from audit.probes import claimed_launches
from audit.probes.concluding.answer import Observed
from audit.probes.observing import claimed_shape
from audit.probes.observing.cases import Case
from audit.probes.observing.claimed_shape import Launched
from audit.probes.observing.target import Target

MOST_LISTED = 4


def scoped(target: Target) -> Target:
    """Return the target; an importer's smaller shape with other launches becomes one that does not count."""
    shapes = target.claim.shapes
    if target.variant.role != "claimed" or shapes.emulated_by != "importer":
        return target
    cases = tuple(_scoped(target, case) for case in target.cases)
    return target if cases == target.cases else replace(target, cases=cases)


def _scoped(target: Target, case: Case) -> Case:
    found = unlike(target, case.shape) if case.scope == "kept" else None
    return case if found is None else replace(case, scope="other", launches=found)


def decided_by(target: Target, asked: Finding, smaller: Finding) -> Target | None:
    """Return the target at the claimed shape, where that is right and a smaller one is not; None where it is not so.

    Every block of it was run: each question is asked there. A few were, and most elements are wrong at a smaller shape
    that counts: that counts no more.
    """
    counting = [case for case in target.cases if case.counts]
    if asked.outcome != "pass" or any(case.scope != "kept" for case in counting):
        return None
    at, run = asked.evidence.get("shape"), asked.evidence.get("blocks_run")
    if at == target.claim.shapes.claimed and run is not None and run == asked.evidence.get("blocks"):
        return replace(target, cases=(claimed_shape.cases_of(target)[claimed_shape.OWN],))
    wrong, of = smaller.evidence.get("elements_wrong"), smaller.evidence.get("elements")
    most = isinstance(wrong, int) and isinstance(of, int) and 2 * wrong > of
    if not counting or not most:
        return None
    return replace(target, cases=tuple(replace(case, scope="other") for case in target.cases))


def smaller_cases(target: Target, *, distribution: str | None = None) -> dict[str, Case]:
    """Return the cases, as `claimed_shape.cases_of`, of the importer's first candidate: a smaller shape, or the claimed
    one. Empty where that does not count for the claim, or another case does. Where the claim states what fits the
    device, those of the largest shape of an imported task that fits for one call. Raises Unsupported: the result takes
    too long."""
    shapes = target.claim.shapes
    if shapes.emulated_by == "claim":
        stated = _largest_stated(target)
        return (
            {} if stated is None else claimed_shape.made_once(target, stated, distribution, others=True, scope="stated")
        )
    if any(case.counts for case in target.cases):
        return {}
    shape = shapes.emulated[0]
    if not counts(shape, shapes, of_claim(target.claim, target.reference.parent)) or unlike(target, shape) is not None:
        return {}
    return claimed_shape.made_once(target, shape, distribution, others=True, scope="kept")


def _largest_stated(target: Target) -> Shape | None:
    """Return the largest shape of the claim whose work is within that of a smaller shape's call, and larger than all
    that were asked; None where there is none, or the task does not say its work."""
    asked = max((math.prod(case.shape.values()) for case in target.cases), default=0)
    larger = [one for one in target.claim.shapes.others if math.prod(one.values()) > asked]
    every = sorted(larger, key=lambda one: math.prod(one.values()), reverse=True)
    work = claimed_shape.weighed(target, every) if every else []
    return next((one for one, amount in zip(every, work, strict=True) if amount and amount <= MOST_WORK), None)


def unlike(target: Target, shape: Shape) -> Observed | None:
    """Return the launches `here`, at a smaller shape, and those `claimed`, where none of the claim's shapes that it
    keeps to launches the same; None where one does, or it is unknown."""
    if claimed_launches.reads_back(target):
        return None
    try:
        claimed_shape.needed(target)
        kept = kept_of(shape, target.claim.shapes, of_claim(target.claim, target.reference.parent))
        *claimed, here = claimed_shape.launched(target, [*kept, shape])
    except AuditError:
        return None
    known = [_blocks(one) for one in claimed]
    if any(one.raised is not None or not one.launches for one in claimed) or here.raised is not None:
        return None
    if not known or _blocks(here) in known:
        return None
    return {"here": _listed(here), "claimed": _listed(claimed[0])}


def _blocks(found: Launched) -> set[tuple[str, tuple[int, ...]]]:
    return {(one["kernel"], tuple(one["block"])) for one in found.launches}


def _listed(found: Launched) -> list[Observed]:
    every = sorted(_blocks(found))
    return [{"kernel": kernel, "block": list(block)} for kernel, block in every[:MOST_LISTED]]
