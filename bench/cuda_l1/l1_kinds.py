"""What findings say about a row: whose kernels ran, and whether its values are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.judge import answers
from audit.judge.evidence import missing, objects
from audit.model import Finding
from audit.probes.kernels_ran import NAME as KERNELS_RAN

RIGHT, SO_FAR, OPEN = "right at its inputs", "right so far", "undecided"
"""Of values, beside the verdicts of the judge: `right so far` is a row that was cut before it was asked every probe."""
OWN, FALLS_BACK, OPERATORS = "own kernel", "falls back", "torch operators alone"
NO_CODE, MISSING, NOT_BUILT = "no code", "cannot be imported", "cannot be built"
CACHE, NO_ANSWER = "uses a cache", "no answer"
UNASKED = "memory_access"
"""The probe whose answer is missing in each row on the GPU; the judge takes a skip of it."""
CACHES = ("review.result_cache", "review.last_call")
"""The hints of the source review that a kept result is returned."""


def kind_of(findings: Iterable[Finding]) -> str:
    """Return whose kernels made the result, by the probe that lists them; `no answer` where it has none."""
    for one in findings:
        if one.probe != KERNELS_RAN or one.outcome not in ("pass", "fail"):
            continue
        launches = one.evidence.get("launches")
        own = isinstance(launches, list) and any(isinstance(each, dict) and each.get("own") for each in launches)
        if one.evidence.get("right_without_kernels") or one.evidence.get("refused_by_torch"):
            return FALLS_BACK
        if own or one.outcome == "pass":
            return OWN
        return FALLS_BACK if one.evidence.get("kernels_in_source") else OPERATORS
    return NO_ANSWER


def cached(findings: Iterable[Finding]) -> bool:
    """Return whether a probe proved that a later call has the result of other inputs, which a fresh process has not."""
    proved = (one for one in findings if one.probe == "fresh_values" and one.fails_kernel)
    return any(each.get("right_alone") for one in proved for each in objects(one.evidence.get("shapes")))


def hints_of(findings: Iterable[Finding]) -> list[str]:
    """Return the names of review rules that point at a line, without those about a library's operators."""
    named = [one.probe.removeprefix("review.") for one in findings if one.outcome == "fail" and "review." in one.probe]
    return sorted({one for one in named if one not in ("library_operator", "library_part")})


def values_of(findings: Sequence[Finding]) -> tuple[str, str]:
    """Return the verdict that the judge gives for a row's values by what a GPU found, and the first piece of evidence.

    Whose kernels ran is no part of it; see `kind_of`. Accesses to memory are not asked on the GPU.
    """
    lacking = [one for one in missing(findings) if not one.startswith(UNASKED)]
    state, found = answers.result_state(findings, lacking)
    if found:
        return state, f"{found[0].probe}: {found[0].summary}"
    if state == "right":
        others = [one for one in findings if one.probe != KERNELS_RAN]
        name, found = answers.false_time(others) or (RIGHT, [])
        return name, f"{found[0].probe}: {found[0].summary}" if found else ""
    errors = [one for one in findings if one.outcome == "error"]
    if errors:
        return OPEN, f"{errors[0].probe}: {errors[0].summary}"
    return NO_ANSWER, ""
