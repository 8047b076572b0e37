"""One list of answers about a variant where two devices were asked: the GPU's decide, what it hides is added."""

from __future__ import annotations

from collections.abc import Iterable

from audit.model import Finding

GPU = "cuda"
SEES_MORE = ("memory_access",)
"""Questions in which the emulated device sees what no checker on a GPU does: a pass there contradicts nothing."""
BUILD = "build"


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
    others = (one for one in known if one not in decided and one.probe != BUILD)
    added = [told for one in others for told in _beside(one, answers.get(one.probe))]
    disputed = {one.probe for one in added if one.outcome == "error"}
    filled = {one.probe for one in added}
    left = [one for one in decided if one.probe not in (filled if one.outcome == "skip" else disputed)]
    return [*added, *left]


def _beside(other: Finding, gpu: Finding | None) -> list[Finding]:
    """What an answer of the other device adds to that of the GPU."""
    if other.outcome not in ("pass", "fail"):
        return []
    if gpu is None or other.grade == "undefined" or (other.convicts and other.probe in SEES_MORE):
        return [other]
    if other.outcome == "fail" and not other.claimed:
        return [] if other.shape in _asked(gpu) else [other]
    if other.convicts and (gpu.outcome == "pass" or not gpu.claimed):
        text = f"{other.summary} - on the emulated device, while the GPU passed; one of them errs, nothing is concluded"
        return [other.model_copy(update={"outcome": "error", "grade": None, "summary": text})]
    return []


def _asked(finding: Finding) -> list[object]:
    """The shapes that a finding speaks of."""
    several = finding.evidence.get("shapes", finding.evidence.get("sizes"))
    told = [one for one in several if isinstance(one, dict)] if isinstance(several, list) else []
    entries = [one.get("shape", one.get("sizes")) for one in told]
    return [finding.shape, finding.evidence.get("shape"), *entries]
