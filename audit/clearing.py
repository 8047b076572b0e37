"""Which answers a variant needs before it counts as right, and which findings convict it; a pure function of both."""

from __future__ import annotations

from audit.model import Finding
from audit.probes import PROBES, channel

BUILD = "build"
KERNELS = "kernels_ran"
CORRECTNESS = ("contract", "agreement", "order", "coverage", "inherited", "inputs_intact", "memory_access")
"""The probes that must have answered before a variant counts as right; `memory_access` blocks nothing when skipped."""
OPTIONAL = ("memory_access",)
TIMED_OUTPUTS = "timed_outputs"
REPLACED = "untouched_process"
ESCAPES = ("late_writes", "current_stream")
"""Probes that read a result behind its call on the call's own stream, as a clock there would see it."""
PROVE_WRONG = frozenset({*CORRECTNESS, *PROBES, TIMED_OUTPUTS}) - {KERNELS, REPLACED, *ESCAPES}
"""The findings that convict a kernel of being wrong where they are proved, also by probes that need not answer. A
result may be right though others' kernels made it, though clocks were replaced, or once the whole device has come to
rest, though nothing on its stream waits for it: rules of their own speak there."""


def missing(findings: list[Finding]) -> list[str]:
    """What stands between a variant and being cleared, in words; empty where nothing does."""
    builds = [finding.summary for finding in findings if finding.probe == BUILD and finding.outcome != "pass"]
    if builds:
        return [f"a build: {summary}" for summary in builds]
    answers = {finding.probe: finding for finding in findings}
    unanswered = [probe for probe in CORRECTNESS if probe not in answers]
    open_answers = [
        finding for probe, finding in answers.items() if not _answered(finding) and not _blocks_nothing(finding)
    ]
    return [f"{probe}: not asked" for probe in unanswered] + [f"{f.probe}: {f.summary}" for f in open_answers]


def _blocks_nothing(finding: Finding) -> bool:
    """Beyond the probes that must answer, only an error or a wrong value of unclear cause stands in the way."""
    if finding.probe in CORRECTNESS:
        return finding.probe in OPTIONAL and finding.outcome == "skip"
    unclear = finding.outcome == "error" or finding.grade == "undefined"
    return finding.probe not in {*PROVE_WRONG, REPLACED, *ESCAPES, channel.NAME} or not unclear


def _answered(finding: Finding) -> bool:
    """A pass answers; so does undefined access whose result is right. A wrong value of unclear cause does not."""
    return finding.outcome == "pass" or (finding.grade == "undefined" and finding.probe in OPTIONAL)
