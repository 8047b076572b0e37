"""Which answers a variant needs before it counts as right, and which findings fail it; a pure function of both."""

from __future__ import annotations

from collections.abc import Iterable

from audit.model import Finding
from audit.probes import PROBES, channel, own_reference

BUILD = "build"
KERNELS = "kernels_ran"
PRECISION = "precision"
CORRECTNESS = ("contract", "agreement", "order", "coverage", "inherited", "inputs_intact", "memory_access")
"""The probes that must have answered before a variant counts as right; `memory_access` blocks nothing when skipped."""
OPTIONAL = ("memory_access",)
TIMED_OUTPUTS = "timed_outputs"
REPLACED = "untouched_process"
ESCAPES = ("late_writes", "current_stream")
"""Probes that read a result behind its call on the call's own stream, as a clock there would see it."""
PROVE_WRONG = frozenset({*CORRECTNESS, *PROBES, TIMED_OUTPUTS}) - {KERNELS, PRECISION, REPLACED, *ESCAPES}
"""The findings that prove a result wrong, also by probes that need not answer. A result may be right though others'
kernels made it, with fewer bits than declared, though clocks were replaced, or once the whole device has come to rest,
though nothing on its stream waits for it: rules of their own speak there."""
OWN_REFERENCE = own_reference.FAILS
"""Stands in an answer that is none because the task was read wrongly; it comes first, as it explains the others."""
NONE_CLAIMED = "none that it speaks of was asked"
"""Stands in a failure outside the claim that leaves the claim itself without an answer."""


def missing(findings: Iterable[Finding]) -> list[str]:
    """What stands between a variant and being cleared, in words; empty where nothing does.

    Proved undefined behaviour answers its question, and so does a failure that the claim does not speak of.
    """
    known = list(findings)
    builds = [finding.summary for finding in known if finding.probe == BUILD and finding.outcome != "pass"]
    if builds:
        return [f"a build: {summary}" for summary in builds]
    answers = _answers(known)
    unanswered = [f"{probe}: not asked" for probe in CORRECTNESS if probe not in answers]
    silent = [f"{f.probe}: {f.summary}" for f in answers.values() if not _answered(f) and not _blocks_nothing(f)]
    return sorted(unanswered + silent, key=lambda text: OWN_REFERENCE not in text)


def outside(findings: Iterable[Finding]) -> list[Finding]:
    """Failures at shapes, or for inputs, that the claim does not speak of."""
    return [one for one in findings if one.outcome == "fail" and not one.claimed]


def undefined(findings: Iterable[Finding]) -> list[Finding]:
    """Undefined behaviour at what the claim speaks of."""
    return [one for one in findings if one.grade == "undefined" and one.claimed]


def _answers(findings: Iterable[Finding]) -> dict[str, Finding]:
    """The last finding of each probe; one outside the claim only where there is no other."""
    ordered = sorted(findings, key=lambda finding: finding.claimed)
    return {finding.probe: finding for finding in ordered}


def _blocks_nothing(finding: Finding) -> bool:
    """Beyond the probes that must answer only an error stands in the way, and nothing where a mechanism is absent."""
    if finding.probe in CORRECTNESS:
        return finding.probe in OPTIONAL and finding.outcome == "skip"
    asked = {*PROVE_WRONG, PRECISION, REPLACED, *ESCAPES, channel.NAME}
    return finding.probe not in asked or finding.outcome != "error"


def _answered(finding: Finding) -> bool:
    """A pass answers, proved undefined behaviour too, a hint of it where skipping would do, and a failure outside the
    claim where the claim itself was asked."""
    if finding.outcome == "fail" and not finding.claimed:
        return NONE_CLAIMED not in finding.summary
    may_be_hint = finding.grade == "hint" and finding.probe in OPTIONAL
    return finding.outcome == "pass" or finding.grade == "undefined" or may_be_hint
