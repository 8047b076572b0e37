"""Other inputs at the claimed shape, one call each: graded and redrawn ones, and distributions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from audit.model import Finding
from audit.model.errors import AuditError, Unsupported
from audit.probes.concluding import block_results
from audit.probes.concluding.answer import Observed
from audit.probes.concluding.compare import FAR, few_of_half
from audit.probes.distributions import OUTSIDE_HALF, REORDERED, SHIFTED, SLIGHT, SORTED, STRIDED, of_range
from audit.probes.observing import block_calls, claimed_shape
from audit.probes.observing.battery import at_middle
from audit.probes.observing.block_calls import WHOLE
from audit.probes.observing.called import Mode
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.probes.observing.variations import DISCRIMINATING, GRADED


class Other(NamedTuple):
    """Other inputs of the claimed shape, in words, and the tolerances by which a wrong element is off."""

    preposition: str
    words: str
    times: float


OTHER_INPUTS = {"graded": Other("for", "graded inputs", 1.0), "redrawn": Other("with", "fixed inputs redrawn", FAR)}
"""See `other_inputs.OTHERS`."""
OF_WHOLE = ("sorted", "constant_rows", "lowest_bytes", "highest_bytes")
"""Distributions of inputs where every block is run, those that the middle case takes."""
MOST_DISTRIBUTIONS = 4
MOST_OTHERS_S = 20.0
"""The processor time of calls with other inputs after which no further inputs are asked."""
ASKED_AS = "claimed_blocks"
"""The name of the probe, for answers of the task's own reference."""


def wrong_at_others(target: Target, cases_of: Callable[..., Mapping[str, Case]], *, blocks: int) -> Observed:
    """Return the evidence of other inputs at which the result is wrong; else those at which it is right."""
    seen: Observed = {}
    cases, spent_s = cases_of(target), 0.0
    for name, other in OTHER_INPUTS.items():
        if spent_s > MOST_OTHERS_S:
            return seen
        with suppress(AuditError, KeyError):
            again, seconds = _with_other_inputs(target, cases[name], blocks=blocks, times=other.times)
            spent_s += seconds
            if _is_wrong(again, cases[name]) and _reference_is_right(target, cases[name], times=other.times):
                return again | {name: True}
            seen |= {f"{name}_too": True} if again["right"] else {}
    others = (_wrong_at_middle(target) or (_of_whole(target) if blocks == WHOLE else ())) if target.cases else ()
    for drawn in others:
        if spent_s > MOST_OTHERS_S:
            return seen
        with suppress(AuditError, KeyError):
            case = cases_of(target, distribution=drawn)[drawn]
            times = max(FAR, SLIGHT / target.relative(case)) if drawn == SORTED else FAR
            again, seconds = _with_other_inputs(target, case, blocks=blocks, times=times)
            spent_s, again = spent_s + seconds, again | {"distribution": drawn}
            if _is_wrong(again, case) and not of_range(again) and _reference_is_right(target, case, times=FAR):
                return again
    return seen


def _is_wrong(seen: Observed, case: Case) -> bool:
    return not seen["right"] and not few_of_half(seen, case.dtype)


def _reference_is_right(target: Target, case: Case, *, times: float) -> bool:
    """Return whether the task's own reference is right at those inputs, within `times` the tolerance: a result that is
    zero but for rounding has no scale."""

    def asked(reference: Target) -> Finding:
        every, call = np.ones(case.expected.shape, dtype=bool), reference.call(case, reference.plain)
        right = block_results.compared(reference, call, case, every, times=times).right
        text = f"{'right' if right else 'wrong'} at {case.label}"
        return Finding(probe=ASKED_AS, target="reference", outcome="pass" if right else "skip", summary=text)

    return target.references.answer(f"{ASKED_AS}, {times:g} times, {case.inputs}", target, asked).outcome == "pass"


def _of_whole(target: Target) -> list[str]:
    """Return the distributions of inputs where every block is run."""
    with suppress(AuditError):
        return [STRIDED, *(one for one in OF_WHOLE if one in at_middle(target))]
    return [STRIDED]


def _with_other_inputs(target: Target, case: Case, *, blocks: int, times: float) -> tuple[Observed, float]:
    """Compare the writes of one call with other inputs, within `times` the tolerance; its processor time follows."""
    memory, pattern = next(iter(target.built.poisons.items()))
    event, call = claimed_shape.parts(target, case, Mode(memory), blocks=blocks)
    if (why := block_calls.why_not(event, case)) is not None:
        raise Unsupported(why)
    kept = np.asarray(~call.holding(pattern)).reshape(case.expected.shape)
    return block_results.compared_part(target, case, event, call, kept, times=times), event["seconds"]


def _wrong_at_middle(target: Target) -> list[str]:
    """Return at most MOST_DISTRIBUTIONS with a wrong result at a shape that does not count."""
    asked = [] if any(case.counts for case in target.cases) else at_middle(target).values()
    left_out = (DISCRIMINATING, GRADED, *OUTSIDE_HALF, *SHIFTED, REORDERED)
    drawn = (one for one in asked if one.group == "distributions" and one.what not in left_out)
    wrong = (one.what for one in drawn if one.call.raised is None and not one.compared(target).right)
    return list(itertools.islice(wrong, MOST_DISTRIBUTIONS))
