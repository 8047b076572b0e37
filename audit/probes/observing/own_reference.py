"""Does the task's own reference pass the probe that a kernel failed? Only then does the failure count.

A task states a tolerance, a mode and a dtype. Where the reference, run the same way and with the same tolerance, fails
too, the task was read wrongly, and nothing follows about the kernel.
"""

from __future__ import annotations

import numpy as np

from audit.model import Finding
from audit.model.errors import AuditError
from audit.probes import alias, claimed_launches, contract, inputs_intact, kernels_ran, memory_access
from audit.probes.concluding.compare import Right, compare
from audit.probes.observing.called import Mode, value_calls
from audit.probes.observing.target import Target

NAME = "reference"
FAILS = "the task as read fails its own reference"
NOT_ASKED = (kernels_ran.NAME, memory_access.NAME, claimed_launches.NAME)
"""Probes about the kernels of a source; a reference has none."""
ASKED_INSTEAD = {"claimed_blocks": "agreement"}
"""A reference has no blocks to run in part: it is asked at the shapes that can be run whole."""
TOLERANCE, HARNESS = "tolerance.relative", "harness"
MODE, DESTINATION, DTYPE = (f"{HARNESS}.{key}" for key in ("mode", "destination", "dtype"))
KEYS = {alias.NAME: DESTINATION, inputs_intact.NAME: DESTINATION, contract.NAME: DTYPE}
"""The key of `claim.toml` to correct after a failure of the reference; for a question about values see `_key`."""


def stands(own: Finding) -> bool:
    """Return whether the reference passed the probe, or failed with a grade that fails no kernel. A proved failure
    counts at any shape: the tolerance that it misses is that of the claimed one too."""
    return own.outcome == "pass" or (own.outcome == "fail" and own.grade != "proved")


def with_key(own: Finding, reference: Target) -> Finding:
    """Return the finding of a reference that failed a probe, with the key of `claim.toml` to correct as evidence."""
    return own.model_copy(update={"evidence": {**own.evidence, "correct": _key(own, reference)}})


def why_not(own: Finding) -> str:
    """Return why nothing follows from a failure whose reference failed the same probe, see `with_key`."""
    found = own.summary if own.outcome == "fail" else f"no answer ({own.outcome}: {own.summary})"
    return f"{FAILS} in {own.probe}: {found}; correct {own.evidence['correct']} in claim.toml"


def _key(own: Finding, reference: Target) -> str:
    """Return the key to correct: the mode where two calls on the same values differ by more than the tolerance."""
    if own.outcome == "error":
        return HARNESS
    if own.probe in KEYS:
        return KEYS[own.probe]
    try:
        return TOLERANCE if _repeats_itself(reference) else MODE
    except AuditError:
        return TOLERANCE


def _repeats_itself(reference: Target) -> bool:
    case = reference.middle
    first, again = reference.session(["claim", "claim"], case, Mode())
    value_calls([first, again], [case.expected] * 2)
    if first.same_bits(again):
        return True
    due = first.values().astype(np.float64)
    return compare(again.values(), Right(due, case.dtype), reference.tolerance).right
