"""Trivial candidates, results known without the answer: each must fail the task, else passing it proves nothing.

What they are, and inputs that tell more where a claim's own cannot, `audit.run.discriminating` makes beside
`reference.py`. Here stands what follows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from pydantic import JsonValue

from audit.model import Finding, Tolerance
from audit.model.errors import AuditError
from audit.probes.battery import trusted
from audit.probes.called import Case
from audit.probes.target import Target
from audit.probes.variations import DISCRIMINATING, Wanted, wanted
from audit.run import correctness

PROBE = "task"


def finding(target: Target) -> Finding:
    """Hold every trivial candidate against the claim's task at the largest case.

    Args:
        target: any variant of the claim; its kernel is not run. The claim's own tolerance counts.

    Returns:
        A finding of probe `task` about the claim. Where a candidate is right at the claim's own inputs it is a failure:
        a hint where other inputs of that shape tell, at which the kernel is judged too, and proved where none do.
    """
    claim = target.claim
    try:
        told = wanted(target)
    except AuditError as error:
        return Finding(probe=PROBE, target=claim.name, outcome="error", summary=str(error))
    varied = told.largest
    right = _right(varied.trivial)
    evidence: dict[str, JsonValue] = {
        "shape": dict(varied.case.shape),
        "tolerance": claim.tolerance.relative,
        "trivial_candidates": _listed(varied.trivial),
    }
    label = varied.case.label
    if not right:
        text = f"{label}: the task tells {len(varied.trivial)} trivial candidates from a right result"
        return Finding(probe=PROBE, target=claim.name, outcome="pass", summary=text, evidence=evidence)
    text = f"{label}: the task takes trivial candidates for right: {', '.join(right)}"
    text += _one_number(varied.case, claim.tolerance)
    elsewhere = next(_telling(target, told), None)
    if elsewhere is None:
        text += "; no other inputs of that shape are known at which it tells"
        return Finding(probe=PROBE, target=claim.name, outcome="fail", grade="proved", summary=text, evidence=evidence)
    words, case, trivial = elsewhere
    evidence["discriminating"] = {"shape": dict(case.shape), "trivial_candidates": _listed(trivial)}
    text += f"; with {words} ({case.label}) it tells all {len(trivial)}"
    return Finding(probe=PROBE, target=claim.name, outcome="fail", grade="hint", summary=text, evidence=evidence)


def _right(trivial: dict[str, int]) -> list[str]:
    return [name for name, wrong in trivial.items() if not wrong]


def _listed(trivial: dict[str, int]) -> list[JsonValue]:
    return [
        {"trivial_candidate": name, "told_apart": wrong > 0, "elements_wrong": wrong} for name, wrong in trivial.items()
    ]


def _telling(target: Target, told: Wanted) -> Iterator[tuple[str, Case, dict[str, int]]]:
    """Where every trivial candidate is wrong and a kernel is judged: in words, the case, and the wrong elements."""
    for varied in (told.largest, told.middle):
        for one in trusted(target, varied):
            if one.group == DISCRIMINATING and not _right(one.trivial):
                yield "discriminating inputs", one.case, one.trivial
    if not _right(told.middle.trivial):
        yield "its own inputs", told.middle.case, told.middle.trivial


def _one_number(case: Case, tolerance: Tolerance) -> str:
    """Says so where the right result is the same number everywhere, as far as the tolerance can see."""
    want = case.expected
    middle = float(want[np.isfinite(want)].mean())
    relative = correctness.held_to(tolerance.relative, case.dtype)
    same = correctness.right(middle, want, relative=relative, scale=correctness.rms(want))
    return f"; the right result is {middle:.6g} everywhere" if want.size > 1 and bool(np.all(same)) else ""
