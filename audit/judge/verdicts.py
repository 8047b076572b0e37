"""Word each verdict from the three answers; `audit.judge` decides its headline."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Literal, TypedDict

from audit.judge import causes, root_causes
from audit.judge.answers import BASELINE, Answers, is_impossible, proofs
from audit.judge.evidence import (
    ESCAPES,
    KERNELS,
    OWN_REFERENCE,
    PRECISION,
    REPLACED,
    configurations_left,
    objects,
)
from audit.judge.ladder import cure
from audit.measure import compared
from audit.model import Finding, Record, ResultAnswer, Verdict, VerdictName
from audit.probes import dead_inputs

NAMED = re.compile(r"input_(\d+)_(\w+)")
"""The name of an input in the evidence of `dead_inputs`: its position and the parameter's name."""
OTHER_INPUTS = "distributions"
NOT_ENOUGH = "the evidence does not suffice to judge"
Confidence = Literal["high", "medium", "low"]


class Words(TypedDict, total=False):
    """The fields of a verdict other than its name and its three answers."""

    reasons: tuple[str, ...]
    confidence: Confidence
    confidence_reason: str
    scope: str
    missing: tuple[str, ...]
    root_cause: str | None


def worded(name: VerdictName, answers: Answers) -> Verdict:
    """Return the verdict of that name, with its three answers."""
    words = WORDS[name](answers)
    return Verdict(name=name, result=answers.result, task=answers.task, ratio=answers.ratio, **words)


def unanswerable(why: str) -> Verdict:
    """Return the verdict about a folder without a claim to judge."""
    return Verdict(
        name="undecided",
        reasons=(NOT_ENOUGH,),
        confidence="low",
        confidence_reason="something needed for a verdict is missing",
        missing=(why,),
    )


def root_cause(record: Record, findings: Sequence[Finding]) -> str | None:
    """Return the cause of a defect: a launch that coverage confirms, the change that cures it, dead inputs, or a format
    of lower precision."""
    proved, cured = root_causes.geometry_cause(record), cure(record)
    if proved and cured and record.generated:
        return f"{proved} A change that the audit generated confirms it: {cured}"
    if proved and cured:
        return f"{proved} Ablation confirms it: {cured}"
    return (
        proved
        or cured
        or root_causes.refused_launch(findings)
        or _unread(findings)
        or root_causes.rounding_cause(findings)
    )


def _failed(answers: Answers) -> Words:
    """Word a proof against the result, and a task that cannot distinguish right from wrong."""
    blind = answers.task.reasons if answers.task.state == "cannot tell" else ()
    level, why = _strength(answers.result, read=root_causes.geometry_cause(answers.evidence.record) is not None)
    return Words(
        reasons=(*answers.result.reasons, *(f"task: {reason}" for reason in blind)),
        root_cause=root_cause(answers.evidence.record, answers.evidence.findings),
        confidence=level,
        confidence_reason=why,
        scope=SCOPES[answers.result.state],
    )


def _strength(answer: ResultAnswer, *, read: bool) -> tuple[Confidence, str]:
    """Return the confidence of a proof: by its distinct causes, and by the devices and builds that show it. A cause
    that was also `read` in the source counts like one more of these."""
    devices = len({one.device for one in answer.places if one.device}) or 1
    builds = max((one.builds for one in answer.places), default=1)
    counts = {"distinct cause": max(answer.causes, 1), "device": devices, "build": builds}
    text = ", ".join(f"{count} {name}{'s' * (count != 1)}" for name, count in counts.items())
    text += "; the source says the same" if read else ""
    several = sum(count > 1 for count in counts.values()) + read
    return ("high" if several > 1 else "medium"), f"shown by {text}"


def _vacuous(answers: Answers) -> Words:
    """Word a task that trivial candidates pass, and further evidence for the claimed kernel."""
    findings = answers.evidence.findings
    passed = [one for one in findings if one.probe == OTHER_INPUTS and one.outcome == "pass"]
    elsewhere = [one for one in passed if one.evidence.get("discriminating")]
    return Words(
        reasons=(*answers.task.reasons, *(f"the claimed kernel where it can tell: {one.summary}" for one in elsewhere)),
        confidence="high",
        confidence_reason="a trivial candidate passes the task at its own tolerance and shape",
        scope="the task as stated: passing it says nothing about any kernel",
    )


def _undecided(answers: Answers) -> Words:
    lacking = answers.missing or answers.ratio.reasons
    misread = any(OWN_REFERENCE in text for text in lacking)
    return Words(
        reasons=(OWN_REFERENCE if misread else NOT_ENOUGH, *_proved_anyway(answers)),
        confidence="low",
        confidence_reason="something needed for a verdict is missing",
        scope=f"what {answers.evidence.record.device.name} could answer",
        missing=lacking,
    )


def _proved_anyway(answers: Answers) -> tuple[str, ...]:
    """Return the reasons that are proved although other answers are missing."""
    found = proofs(answers.evidence.findings, (PRECISION, KERNELS, REPLACED, *ESCAPES)) if answers.missing else []
    return tuple(f"proved, whatever is missing: {causes.reason(members)}" for members in causes.causes(found))


def _mistimed(answers: Answers) -> Words:
    """Word a right result whose time is not the time of its work."""
    found = answers.evidence.findings
    proved = {one.probe for one in found if one.fails_kernel}
    kind = next((probe for probe in MISTIMED if probe in proved), "floor")
    why, scope = MISTIMED[kind]
    record = answers.evidence.record
    gpus = dict.fromkeys(one.target for one in record.findings if is_impossible(record, one))
    return Words(
        reasons=answers.ratio.reasons,
        root_cause=root_cause(record, found) if kind in ("late_writes", "current_stream") else None,
        confidence="medium",
        confidence_reason=why,
        scope=scope.format(gpus=", ".join(gpus), device=record.device.name),
    )


def _of_ratio(answers: Answers) -> Words:
    record, of_others = answers.evidence.record, answers.ratio.state == "not its own"
    shape = "the shape of the finding" if of_others else "the claimed shape"
    return Words(
        reasons=(*answers.ratio.reasons, *answers.result.reasons),
        confidence="medium",
        confidence_reason="the result is right, and none of the source's kernels produced it"
        if of_others
        else f"every correctness probe passed; one GPU, interleaved with its baselines in {_processes(answers)}",
        scope=f"{shape}, on {record.device.name}; a published time is that of the library"
        if of_others
        else f"speed on {record.device.name}, at {shape}",
    )


def _processes(answers: Answers) -> str:
    found = compared(answers.evidence.record.measurements, answers.evidence.claimed.name, BASELINE)
    return f"{found.ratio.processes} processes" if found and found.ratio.processes > 1 else "one session"


def _no_defect(answers: Answers) -> Words:
    hints = [one for one in answers.evidence.findings if one.outcome == "fail" and not one.fails_kernel]
    limits = [
        f"right with the first of the {count} configurations of {kernel}; triton.autotune may choose another"
        for kernel, count in configurations_left(answers.evidence.findings)
    ]
    if fixed := ", ".join(_not_followed(hints)):
        right = f"right for the value that every draw of the task gives to {fixed}"
        limits.append(f"{right}; with another the result does not follow")
    return Words(
        reasons=(*(limits or ["right in every question that was asked"]), *answers.result.reasons),
        confidence="medium",
        confidence_reason="every question that must be answered was; a test is no proof",
        scope="the result, at the shapes and on the devices asked; nothing about its speed",
        missing=answers.ratio.reasons,
    )


def _unread(findings: Sequence[Finding]) -> str | None:
    """Return the inputs with which nearly no element of the result moves, as the cause; the reasons have the numbers of
    those with which some do. None where the kernel did not run to its end."""
    failed = [one for one in findings if one.fails_kernel]
    names = [] if causes.unfinished(failed) else _not_followed(failed)
    return f"The result does not follow {', '.join(names)}." if names else None


def _not_followed(findings: Sequence[Finding]) -> list[str]:
    dead = next((one for one in findings if one.probe == dead_inputs.NAME), None)
    inputs = objects(dead.evidence.get("inputs")) if dead else []
    return [NAMED.sub(r"input \1 (\2)", str(one["input"])) for one in inputs if dead_inputs.keeps_all(one)]


NAMED_PLACES = "the kernel as audited, at the shapes, on the devices and in the builds named"
SCOPES = {
    "wrong": f"{NAMED_PLACES}; no speed of it is reported",
    "undefined": f"{NAMED_PLACES}; another GPU, driver or compiler may give other values",
    "aliased result": f"{NAMED_PLACES}; its values are read before the next call",
    "cannot be built": "the source as audited, with the compiler and the versions named",
    "reduced precision": f"{NAMED_PLACES}; within the tolerance its values are right",
}
MISTIMED = {
    "untouched_process": (
        "the result is right; clocks or checks of its process were not what they were before it ran",
        "whatever was timed or checked in one process with this code",
    ),
    "late_writes": (
        UNFINISHED := "the result was read behind the call and found unfinished; it is right once the whole device has "
        "come to rest",
        UNSEEN := "whatever was timed on the caller's stream, and whoever reads the result there without synchronising",
    ),
    "current_stream": (UNFINISHED, UNSEEN),
    "floor": (
        "the kernel passed every correctness probe; the published time is under a data-sheet floor",
        "the published times on {gpus}; nothing was timed on {device}",
    ),
}
"""The reason for the confidence, and the scope, by the probe; the first one that failed decides."""
WORDS: dict[VerdictName, Callable[[Answers], Words]] = {
    **dict.fromkeys(("wrong", "cannot be built", "undefined", "aliased result", "reduced precision"), _failed),
    "vacuous": _vacuous,
    "undecided": _undecided,
    "mistimed": _mistimed,
    **dict.fromkeys(("overstated", "weak baseline", "confirmed"), _of_ratio),
    "no defect found": _no_defect,
}
