"""Trivial candidates, results known without any computation: each must fail the task, else passing it proves nothing.

`audit.run.inputs.discriminating` makes them, and inputs that distinguish them where a claim's own cannot.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from audit.model import Finding, Tolerance
from audit.model.errors import AuditError
from audit.probes.concluding import answer
from audit.probes.concluding.answer import Answer, Observed, failed, label, passed
from audit.probes.observing.battery import trusted
from audit.probes.observing.cases import Case
from audit.probes.observing.target import Target
from audit.probes.observing.variations import DISCRIMINATING, Wanted, wanted
from audit.run.calls import correctness

PROBE = "task"


def finding(target: Target) -> Finding:
    """Test every trivial candidate at the largest case, by the claim's own tolerance; no kernel is run.

    The finding, of probe `task` about the claim, fails where a candidate is right at the claim's own inputs: as a hint
    where other inputs of that shape, also used for the kernel, distinguish it, and as proved where none do.
    """
    claim = target.claim
    try:
        result = wanted(target)
    except AuditError as error:
        return Finding(probe=PROBE, target=claim.name, outcome="error", summary=str(error))
    varied = result.largest
    seen: Observed = {
        "shape": dict(varied.case.shape),
        "tolerance": claim.tolerance.relative,
        "trivial_candidates": _listed(varied.trivial),
    }
    if _right(varied.trivial):
        seen |= {"one_number": _one_number(varied.case, claim.tolerance)}
        seen |= next(_telling(target, result), {})
    return answer.finding(PROBE, claim.name, seen, conclude)


def conclude(seen: Observed) -> Answer:
    """Pass where each candidate is wrong at the claim's own inputs."""
    candidates = seen["trivial_candidates"]
    right = [one["trivial_candidate"] for one in candidates if not one["told_apart"]]
    shape = label(seen["shape"])
    if not right:
        return passed(f"{shape}: the task tells {len(candidates)} trivial candidates from a right result")
    text = f"{shape}: the task takes trivial candidates for right: {', '.join(right)}"
    text += f"; the right result is {seen['one_number']:.6g} everywhere" if seen["one_number"] is not None else ""
    other = seen.get("discriminating")
    if other is None:
        return failed(f"{text}; no other inputs of that shape are known at which it tells")
    there = f"{other['inputs']} ({label(other['shape'])})"
    return failed(f"{text}; with {there} it tells all {len(other['trivial_candidates'])}", "hint")


def _right(trivial: dict[str, int]) -> list[str]:
    return [name for name, wrong in trivial.items() if not wrong]


def _listed(trivial: dict[str, int]) -> list[Observed]:
    return [
        {"trivial_candidate": name, "told_apart": wrong > 0, "elements_wrong": wrong} for name, wrong in trivial.items()
    ]


def _telling(target: Target, result: Wanted) -> Iterator[Observed]:
    """Yield inputs at which every trivial candidate is wrong and the kernel is tested."""
    for varied in (result.largest, result.middle):
        for one in trusted(target, varied):
            if one.group == DISCRIMINATING and not _right(one.trivial):
                yield _at("discriminating inputs", one.case, one.trivial)
    if not _right(result.middle.trivial):
        yield _at("its own inputs", result.middle.case, result.middle.trivial)


def _at(inputs: str, case: Case, trivial: dict[str, int]) -> Observed:
    there = {"inputs": inputs, "shape": dict(case.shape), "trivial_candidates": _listed(trivial)}
    return {"discriminating": there}


def _one_number(case: Case, tolerance: Tolerance) -> float | None:
    """Return the right result if it is the same number everywhere within the tolerance; else None."""
    want = case.expected
    middle = float(want[np.isfinite(want)].mean())
    relative = correctness.held_to(tolerance.relative, case.dtype)
    same = correctness.right(middle, want, relative=relative, scale=correctness.rms(want))
    return middle if want.size > 1 and bool(np.all(same)) else None
