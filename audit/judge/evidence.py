"""Which findings count about a variant, and which answers it needs before it passes; pure functions of findings.

Where two devices were asked, the GPU's answers decide, and what a GPU hides is added.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from audit.model import Finding
from audit.probes import PROBES, channel, own_reference
from audit.review import reach

GPU = "cuda"
SEES_MORE = ("memory_access",)
"""Questions in which the emulated device sees what no checker on a GPU does: a pass there contradicts nothing."""
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
OF_CONTRACT = re.compile(r"\bsince contract\b|\bsee contract$")
"""Why a probe has no answer that only repeats what `contract` says; it is left out of what is missing."""
NONE_CLAIMED = "none that it speaks of was asked"
"""Stands in a failure outside the claim that leaves the claim itself without an answer."""


def deciding_about(findings: Iterable[Finding], target: str | None) -> list[Finding]:
    """The deciding answers about a variant, by its name; none about None."""
    return deciding(one for one in findings if one.target == target)


def objects(value: object) -> list[dict[str, Any]]:
    """The objects in a list of the evidence; none where it is something else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def deciding(findings: Iterable[Finding]) -> list[Finding]:
    """The answers a judgement rests on, those of the GPU last.

    Where only one device was asked these are its answers. Beside a GPU the emulated device answers what the GPU could
    not, and adds undefined behaviour, bad accesses that happened to work there, and failures outside the claim at
    shapes that the GPU was not asked about. If it proves wrong what the GPU passed, one of them errs: the finding
    becomes an error, and nothing is concluded from it.

    Args:
        findings: all about one variant.
    """
    known = list(findings)
    if not any(one.device == GPU for one in known):
        return known
    decided = [one for one in known if one.device in (GPU, None)]
    answers = {one.probe: one for one in decided if one.outcome != "skip"}
    others = (one for one in known if one.device not in (GPU, None) and one.probe != BUILD)
    added = [result for one in others for result in _beside(one, answers.get(one.probe))]
    disputed = {one.probe for one in added if one.outcome == "error"}
    filled = {one.probe for one in added}
    left = [one for one in decided if one.probe not in (filled if one.outcome == "skip" else disputed)]
    return [*added, *left]


def _beside(other: Finding, gpu: Finding | None) -> list[Finding]:
    """What an answer of the other device adds to that of the GPU."""
    if other.outcome not in ("pass", "fail"):
        return []
    if gpu is None or other.grade == "undefined" or (other.fails_kernel and other.probe in SEES_MORE):
        return [other]
    if other.outcome == "fail" and not other.claimed:
        return [] if other.shape in _asked(gpu) else [other]
    if other.fails_kernel and (gpu.outcome == "pass" or not gpu.claimed):
        text = f"{other.summary} - on the emulated device, while the GPU passed; one of them errs, nothing is concluded"
        return [other.model_copy(update={"outcome": "error", "grade": None, "summary": text})]
    return []


def _asked(finding: Finding) -> list[object]:
    """The shapes that a finding speaks of."""
    several = objects(finding.evidence.get("shapes", finding.evidence.get("sizes")))
    entries = [one.get("shape", one.get("sizes")) for one in several]
    return [finding.shape, finding.evidence.get("shape"), *entries]


def missing(findings: Iterable[Finding]) -> list[str]:
    """What stands between a variant and passing, in words; empty where nothing does.

    Proved undefined behaviour answers its question, and so does a failure that the claim does not speak of.
    """
    known = list(findings)
    builds = [finding.summary for finding in known if finding.probe == BUILD and finding.outcome != "pass"]
    if builds:
        return [f"a build: {summary}" for summary in builds]
    answers = _answers(known)
    unanswered = [f"{probe}: not asked" for probe in CORRECTNESS if probe not in answers]
    silent = [one for one in answers.values() if not _answered(one) and not _blocks_nothing(one)]
    if any(one.probe == "contract" for one in silent):
        silent = [one for one in silent if one.probe == "contract" or not OF_CONTRACT.search(one.summary)]
    entries = [f"{one.probe}: {one.summary}" for one in silent]
    return sorted(unanswered + entries, key=lambda text: OWN_REFERENCE not in text)


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
    asked = {*PROVE_WRONG, PRECISION, REPLACED, *ESCAPES, channel.NAME, reach.NAME}
    return finding.probe not in asked or finding.outcome != "error"


def _answered(finding: Finding) -> bool:
    """A pass answers, proved undefined behaviour too, a hint of it where skipping would do, and a failure outside the
    claim where the claim itself was asked."""
    if finding.outcome == "fail" and not finding.claimed:
        return NONE_CLAIMED not in finding.summary
    may_be_hint = finding.grade == "hint" and finding.probe in OPTIONAL
    return finding.outcome == "pass" or finding.grade == "undefined" or may_be_hint
