"""Select the findings that count about a variant, and the answers it needs before it passes.

Where two devices were asked, the GPU's answers decide, and the emulated device adds those that a GPU hides.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from audit.measure.comparison import TIMED_OUTPUTS
from audit.model import Finding
from audit.probes import PROBES, claimed_blocks, claimed_launches, configurations
from audit.probes.concluding import answer
from audit.probes.observing import own_reference
from audit.review import reach

GPU = "cuda"
SEES_MORE = ("memory_access",)
"""Probes in which the emulated device sees more than any checker on a GPU: a pass there contradicts nothing."""
BUILD = "build"
KERNELS = "kernels_ran"
PRECISION = "precision"
ALIAS = "alias"
"""The probe that makes a result wrong only beside another; alone it says that a right one does not last."""
CORRECTNESS = ("contract", "agreement", "order", "coverage", "inherited", "inputs_intact", "memory_access")
"""The probes that must answer before a variant counts as right; `memory_access` may be skipped."""
OPTIONAL = ("memory_access",)
REPLACED = "untouched_process"
ESCAPES = ("late_writes", "current_stream")
"""Probes that read a result right after its call on the call's own stream, as a timer does."""
PROVE_WRONG = frozenset({*CORRECTNESS, *PROBES, TIMED_OUTPUTS}) - {KERNELS, PRECISION, REPLACED, *ESCAPES}
"""The probes whose proved failure makes a result wrong, also those that need not answer. A result may be right although
other kernels made it, it has fewer bits than declared, clocks were replaced, or it is complete only once the whole
device is idle: these have rules of their own."""
OWN_REFERENCE = own_reference.FAILS
"""Part of an error because the task was read wrongly; it comes first, as it explains the others."""
OF_CONTRACT = re.compile(r"\bsince contract\b|\bsee contract(?:, repeat)?$")
"""Part of an answer that only repeats `contract`; it is not listed as missing."""
NONE_CLAIMED = "none that it speaks of"
"""Part of a failure outside the claim, of an older record, where its probe asked at no shape of the claim."""


def deciding_about(findings: Iterable[Finding], target: str | None) -> list[Finding]:
    """Return the deciding answers about a variant, by its name."""
    return deciding(one for one in findings if one.target == target)


def configurations_left(findings: Iterable[Finding]) -> list[tuple[str, int]]:
    """Return the functions under `triton.autotune` not asked with every configuration, and how many they have."""
    known = list(findings)
    asked = (one.evidence for one in known if one.probe == configurations.NAME)
    return [] if any(map(configurations.asked_all, asked)) else _not_tuned(known)


def _never_run(findings: Iterable[Finding]) -> list[str]:
    """Return the source's kernels that host code launches at the claimed shape and that were run at none: not at the
    largest shape asked, and not in blocks of the claimed one."""
    answers = {one.probe: one for one in findings if one.outcome == "pass"}
    at_claimed, ran = answers.get(claimed_launches.NAME), answers.get(KERNELS)
    if at_claimed is None or ran is None or ran.device != at_claimed.device or claimed_blocks.NAME in answers:
        return []
    known = {one["kernel"] for one in objects(ran.evidence.get("launches"))}
    return sorted({str(one["kernel"]) for one in objects(at_claimed.evidence.get("launches"))} - known)


def _not_tuned(findings: Iterable[Finding]) -> list[tuple[str, int]]:
    """Return the functions under `triton.autotune` that took the first of several configurations, and how many they
    have: nothing is tuned where nothing is timed."""
    ran = next((one for one in findings if one.probe == KERNELS), None)
    tuned = objects(ran.evidence.get("tuned")) if ran and not ran.evidence.get("timed") else []
    counts = [(str(one["kernel"]), one["of"]) for one in tuned]
    return [(kernel, count) for kernel, count in counts if isinstance(count, int) and count > 1]


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects in a list of the evidence; none where the value is something else."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def deciding(findings: Iterable[Finding]) -> list[Finding]:
    """Return the deciding findings among all about one variant, those of the GPU last.

    Where only one device was asked these are its findings. To those of a GPU the emulated device adds answers that the
    GPU could not give, undefined behaviour, bad accesses that happened to work there, and failures outside the claim at
    shapes that the GPU was not asked about. Where it proves a failure and the GPU passed, one of them errs: the finding
    becomes an error.
    """
    known = _of_the_claimed_path(list(findings))
    if not any(one.device == GPU for one in known):
        return known
    decided = [one for one in known if one.device in (GPU, None)]
    answers = {one.probe: one for one in decided if one.outcome != "skip"}
    others = (one for one in known if one.device not in (GPU, None) and one.probe != BUILD)
    added = [result for one in others for result in _added(one, answers.get(one.probe))]
    disputed = {one.probe for one in added if one.outcome == "error"}
    filled = {one.probe for one in added}
    left = [one for one in decided if one.probe not in (filled if one.outcome == "skip" else disputed)]
    return [*added, *left]


def _of_the_claimed_path(findings: list[Finding]) -> list[Finding]:
    """Return the findings; failures at other shapes are outside the claim where the host code launches the source's
    kernels at those alone, and none at the claimed shape. Unless that was asked itself, they leave it open."""
    without = (one for one in findings if one.probe == KERNELS and one.fails_kernel and "own_there" in one.evidence)
    if (found := next(without, None)) is None:
        return findings
    elsewhere = (None, found.shape)
    asked = (one for one in findings if one.probe == claimed_blocks.NAME and one.outcome in ("pass", "fail"))
    there = any(one.evidence.get("shape") == found.shape for one in asked)
    update = {"claimed": False} if there else {"outcome": "error", "grade": None}
    return [
        one.model_copy(update=update) if one.outcome == "fail" and one.shape not in elsewhere else one
        for one in findings
    ]


def _added(other: Finding, gpu: Finding | None) -> list[Finding]:
    """Return the finding that an answer of the emulated device adds to that of the GPU, if any."""
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
    several = objects(finding.evidence.get("shapes", finding.evidence.get("sizes")))
    entries = [one.get("shape", one.get("sizes")) for one in several]
    return [finding.shape, finding.evidence.get("shape"), *entries]


def missing(findings: Iterable[Finding]) -> list[str]:
    """Return the missing answers that keep a variant from passing, in words. Undefined behaviour answers its question,
    and so does a failure outside the claim."""
    known = list(findings)
    builds = [finding.summary for finding in known if finding.probe == BUILD and finding.outcome != "pass"]
    if builds:
        return [f"a build: {summary}" for summary in builds]
    answers = _answers(known)
    unanswered = [f"{probe}: not asked" for probe in CORRECTNESS if probe not in answers]
    silent = [one for one in answers.values() if not _answered(one) and not _blocks_nothing(one)]
    if (blocks := answers.get(claimed_blocks.NAME)) is not None and blocks.outcome == "pass":
        silent = [one for one in silent if one.claimed or one.probe not in OPTIONAL]  # asked of those blocks
    if first := next((one for one in silent if one.probe == "contract"), None):
        silent = [one for one in silent if one is first or not _repeats(one, first)]
    if _not_tuned(known):
        silent += [one for one in known if one.probe == configurations.NAME and one.outcome == "fail"]
    entries = [f"{one.probe}: {one.summary}" for one in silent]
    if left := _never_run(known):
        entries.append(
            f"a run of {', '.join(left)}, which the source launches at the claimed shape and at none that was run"
        )
    return sorted(unanswered + entries, key=lambda text: OWN_REFERENCE not in text)


def _repeats(finding: Finding, contract: Finding) -> bool:
    """Return whether a finding without an answer says only what that of `contract` does."""
    alike = finding.outcome in ("skip", "error") and finding.summary == contract.summary
    return alike or OF_CONTRACT.search(finding.summary) is not None


def outside(findings: Iterable[Finding]) -> list[Finding]:
    """Return the failures at shapes, or for inputs, outside the claim."""
    return [one for one in findings if one.outcome == "fail" and not one.claimed]


def undefined(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings of undefined behaviour within the claim."""
    return [one for one in findings if one.grade == "undefined" and one.claimed]


def _answers(findings: Iterable[Finding]) -> dict[str, Finding]:
    """Return the last finding of each probe; one outside the claim only where there is no other."""
    ordered = sorted(findings, key=lambda finding: finding.claimed)
    return {finding.probe: finding for finding in ordered}


def _blocks_nothing(finding: Finding) -> bool:
    """Return whether a finding without an answer keeps no variant from passing: only errors of other probes do."""
    if finding.probe in CORRECTNESS:
        return finding.probe in OPTIONAL and finding.outcome == "skip"
    asked = {*PROVE_WRONG, PRECISION, REPLACED, *ESCAPES, answer.CHANNEL, reach.NAME}
    return finding.probe not in asked or finding.outcome != "error"


def _answered(finding: Finding) -> bool:
    """Return whether a finding answers its probe: a pass, undefined behaviour, a hint of an optional probe, or a
    failure outside the claim where the claim itself was asked."""
    if finding.outcome == "fail" and not finding.claimed:
        return NONE_CLAIMED not in finding.summary and answer.AT_NONE not in finding.summary
    may_be_hint = finding.grade == "hint" and finding.probe in OPTIONAL
    return finding.outcome == "pass" or finding.grade == "undefined" or may_be_hint
