"""What findings say about a row: whose kernels ran, and whether its values are right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from audit.model import Finding
from audit.probes.kernels_ran import NAME as KERNELS_RAN

OWN, FALLS_BACK, OPERATORS = "own kernel", "falls back", "torch operators alone"
NO_CODE, MISSING, NOT_BUILT = "no code", "cannot be imported", "cannot be built"
CACHE, NO_ANSWER = "uses a cache", "no answer"
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
    """Return whether a probe proved that an earlier result is returned for other inputs."""
    return any(one.probe == "fresh_values" and one.fails_kernel for one in findings)


def hints_of(findings: Iterable[Finding]) -> list[str]:
    """Return the names of review rules that point at a line, without those about a library's operators."""
    named = [one.probe.removeprefix("review.") for one in findings if one.outcome == "fail" and "review." in one.probe]
    return sorted({one for one in named if one not in ("library_operator", "library_part")})


def values_of(findings: Sequence[Finding]) -> tuple[str, str]:
    """Return what the findings of a GPU say about a row's values, and the first piece of evidence."""
    failed = [one for one in findings if one.outcome == "fail" and one.claimed and one.probe != KERNELS_RAN]
    for name, grade in (("wrong", "proved"), ("undefined", "undefined")):
        if (first := next((one for one in failed if one.grade == grade), None)) is not None:
            return name, f"{first.probe}: {first.summary}"
    if any(one.probe == "agreement" and one.outcome == "pass" for one in findings):
        return "right at its inputs", ""
    error = next((one for one in findings if one.outcome == "error" and one.probe in ("contract", "agreement")), None)
    return NO_ANSWER, "" if error is None else f"{error.probe}: {error.summary}"
