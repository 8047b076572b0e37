"""The three answers of a verdict: is the result right, can the task tell, was the ratio reached?"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from audit.judge import causes
from audit.judge.evidence import (
    ALIAS,
    BUILD,
    ESCAPES,
    KERNELS,
    PRECISION,
    PROVE_WRONG,
    REPLACED,
    deciding,
    deciding_about,
    missing,
    outside,
    undefined,
)
from audit.measure import Comparison, compared, comparison, independent_clock, strongest, wrong_baselines
from audit.model import Finding, Place, RatioAnswer, Record, ResultAnswer, Speedup, TaskAnswer, Variant
from audit.model.gpus import names_in
from audit.model.record import RatioState, ResultState, TaskState
from audit.probes import claimed_launches
from audit.probes.concluding.answer import label

BASELINE = "baseline:eager"
MARGIN = 0.1
"""A measured ratio may fall this far short of the published one and still confirm it."""
FLOOR, TASK = "floor", "task"


@dataclass(frozen=True)
class Evidence:
    """The basis of the answers; `findings` are the deciding ones about the claimed kernel."""

    record: Record
    claimed: Variant
    findings: list[Finding]


@dataclass(frozen=True)
class Answers:
    """The three answers, their evidence, and missing answers of probes."""

    evidence: Evidence
    result: ResultAnswer
    task: TaskAnswer
    ratio: RatioAnswer
    missing: tuple[str, ...]


def answered(record: Record, claimed: Variant) -> Answers:
    """Return the three answers that the findings and measurements of the record support."""
    findings = deciding_about(record.findings, claimed.name)
    evidence = Evidence(record, claimed, findings)
    lacking = tuple(missing(findings))
    result = result_answer(evidence, lacking)
    return Answers(evidence, result, task_answer(record), ratio_answer(evidence, result), lacking)


def result_answer(evidence: Evidence, lacking: tuple[str, ...]) -> ResultAnswer:
    """Is the result right? A proof decides; a missing answer leaves it open; findings of one cause are one reason."""
    state, found = result_state(evidence.findings, lacking)
    if state == "open":
        return ResultAnswer(state=state, reasons=lacking)
    if state != "right":
        return _failed(evidence, state, found)
    entries = (f"{one.probe}: {one.summary}" for one in outside(evidence.findings))
    beyond = tuple(f"not claimed: {text}" for text in entries)
    passed = [one for one in evidence.findings if one.outcome == "pass" and one.probe != claimed_launches.NAME]
    return ResultAnswer(state="right", reasons=beyond, places=causes.asked_at(evidence.record, passed))


def result_state(findings: Sequence[Finding], lacking: Sequence[str]) -> tuple[ResultState, list[Finding]]:
    """Return what the deciding findings about a variant say of its result, and those that prove a failure. `lacking`
    are the missing answers, in words."""
    proved = proofs(findings, PROVE_WRONG)
    failures: dict[ResultState, list[Finding]] = {
        "wrong": [] if all(one.probe == ALIAS for one in proved) else proved,
        "cannot be built": proofs(findings, (BUILD,)),
        "undefined": undefined(findings),
        "aliased result": proved,
    }
    for state, found in failures.items():
        if found:
            return state, found
    if lacking:
        return "open", []
    rough = proofs(findings, (PRECISION,))
    return ("reduced precision", rough) if rough else ("right", [])


def false_time(findings: Sequence[Finding]) -> tuple[RatioState, list[Finding]] | None:
    """Return why a time would not be that of a right kernel's own work, and the findings that prove it."""
    kinds: tuple[tuple[RatioState, Collection[str]], ...] = (
        ("mistimed", (REPLACED,)),
        ("mistimed", ESCAPES),
        ("not its own", (KERNELS,)),
    )
    return next(((state, found) for state, probes in kinds if (found := proofs(findings, probes))), None)


def proofs(findings: Iterable[Finding], probes: Collection[str]) -> list[Finding]:
    """Return the proved failures of those probes within the claim."""
    return [one for one in findings if one.fails_kernel and one.probe in probes]


def _failed(evidence: Evidence, state: ResultState, found: list[Finding]) -> ResultAnswer:
    groups = causes.causes(found)
    reasons = tuple(causes.reason(members) for members in groups)
    places = causes.shown_at(evidence.record, found)
    return ResultAnswer(state=state, reasons=reasons, places=places, causes=len(groups))


def task_answer(record: Record) -> TaskAnswer:
    """Can the task distinguish a right kernel from one that computes nothing, at its own inputs or at others?"""
    asked = deciding(finding for finding in record.findings if finding.probe == TASK)
    blind = [one for one in asked if one.fails_kernel]
    partly = [one for one in asked if one.outcome == "fail" and one.grade == "hint"]
    passed = [one for one in asked if one.outcome == "pass"]
    result = blind or partly or passed or asked
    state: TaskState = (
        "cannot tell" if blind else "only at other inputs" if partly else "can tell" if passed else "open"
    )
    reasons = tuple(one.summary for one in result)
    places = causes.shown_at(record, blind) if blind else causes.asked_at(record, partly or passed)
    return TaskAnswer(state=state, reasons=reasons, places=places)


def ratio_answer(evidence: Evidence, result: ResultAnswer) -> RatioAnswer:
    """Was the published ratio reached? Only a right kernel whose time is that of its own work has a ratio."""
    if result.state != "right":
        why = f"a ratio counts for a right result; this one: {result.state}"
        return RatioAnswer(state="not measured", reasons=(why,))
    if (false := false_time(evidence.findings)) is not None:
        state, found = false
        reasons = tuple(causes.reason(members) for members in causes.causes(found))
        return RatioAnswer(state=state, reasons=reasons, places=causes.shown_at(evidence.record, found))
    impossible = [one for one in evidence.record.findings if is_impossible(evidence.record, one)]
    if impossible:
        return RatioAnswer(state="mistimed", reasons=tuple(one.summary for one in impossible))
    return _with_others(evidence.record, _measured(evidence))


def is_impossible(record: Record, finding: Finding) -> bool:
    """Return whether the authors' own time is under the floor; a time that others took does not count against it."""
    claim = record.claim.statement
    others = {one.gpu for one in claim.observation if not claim.stated_by_authors(one)}
    return finding.probe == FLOOR and finding.fails_kernel and finding.target not in others


def _measured(evidence: Evidence) -> RatioAnswer:
    """Return the answer from times on a GPU of the claim, against the strongest baseline of at least its precision.
    Where none is as precise, for instance because the reference's own convolutions use TF32, the named one counts."""
    record, claimed, wrong = evidence.record, evidence.claimed, wrong_baselines(evidence.record.findings)
    baseline = strongest(record.measurements, claimed.precision, wrong=wrong, beside=claimed.name)
    baseline = baseline or (None if BASELINE in wrong else BASELINE)
    measured = baseline and compared(record.measurements, claimed.name, baseline)
    if not measured and (contradicted := _doubts(record)):
        return RatioAnswer(state="open", reasons=contradicted)
    if not measured:
        which = "a GPU it names" if record.claim.statement.ratios else "a GPU"
        untimed = f"a time: {record.device.name} gives none; audit the claim on {which}"
        waiting = _open_hints(evidence.findings)
        return RatioAnswer(state="open" if waiting else "not measured", reasons=(*waiting, untimed))
    published = published_here(record)
    if published is None:
        named = ", ".join(one.gpu for one in record.claim.statement.ratios)
        text = f"a time on a GPU the claim names ({named})" if named else "a ratio that the claim states: it has none"
        text += f"; {record.device.name}: {measured.sentence()}"
        return RatioAnswer(state="not measured", reasons=(text,))
    return _compared(evidence, published, measured)


def published_here(record: Record) -> Speedup | None:
    """Return the ratio published for the GPU of the record and the claimed shape; None where there is none."""
    here = names_in(record.device.name)
    return next((one for one in record.claim.statement.ratios if one.gpu in here), None)


def _with_others(record: Record, answer: RatioAnswer) -> RatioAnswer:
    """Return the answer with the ratios that are published for the GPU of the record at other shapes, not judged."""
    here, claim = names_in(record.device.name), record.claim.statement
    others = (one for one in claim.other_ratios if one.gpu in here)
    reasons = (
        f"{one.gpu}: {one.ratio:g}x is claimed at {label(one.shape or {})} alone, where no time is taken"
        for one in others
    )
    return answer.model_copy(update={"reasons": (*answer.reasons, *reasons)})


def _compared(evidence: Evidence, published: Speedup, measured: Comparison) -> RatioAnswer:
    record, wrong = evidence.record, wrong_baselines(evidence.record.findings)
    places = (Place(shape=record.claim.statement.shapes.claimed, device=record.device.name),)
    least = published.ratio * (1 - MARGIN)
    only = BASELINE in {measured.baseline, *wrong}
    named = None if only else compared(record.measurements, evidence.claimed.name, BASELINE)
    text = f"measured {measured.sentence()} against {measured.baseline}, the strongest baseline of its precision class"
    if strongest(record.measurements, evidence.claimed.precision, wrong=wrong) is None:
        text = f"measured {measured.sentence()} against {measured.baseline}; no baseline timed is as precise"
    text += f"; {named.sentence()} against {BASELINE}" if named else ""
    reason = f"{published.gpu}: claimed {published.ratio:g}x, {text}"
    reached = next((one for one in (measured, named) if one is not None and _reached(one, least)), None)
    open_reasons = _undecided(evidence, measured, least)
    if not open_reasons and reached is not None:
        open_reasons = _by_another_clock(evidence, reached, least)
    elif not open_reasons and not only and not _missed(named, least):
        text = f"a session that timed {BASELINE} beside the claimed kernel"
        open_reasons = (f"a ratio to {BASELINE} that counts: {named.sentence()}" if named else text,)
    if open_reasons:
        return RatioAnswer(state="open", reasons=open_reasons, places=places)
    if reached is None:
        return RatioAnswer(state="not reached", reasons=(reason,), places=places)
    if reached is measured:
        return RatioAnswer(state="reached", reasons=(reason,), places=places)
    credit = f"the published ratio is real against {BASELINE}; {measured.baseline} needs no kernel of the claim's"
    return RatioAnswer(state="weak baseline", reasons=(reason, credit), places=places)


def _undecided(evidence: Evidence, measured: Comparison, least: float) -> tuple[str, ...]:
    """Return reasons why the ratio to the strongest baseline is inconclusive, whatever it is."""
    record, claimed = evidence.record, evidence.claimed
    if impossible := _doubts(record, comparison.UNDER_FLOOR, {claimed.name, measured.baseline, BASELINE}):
        return impossible
    if measured.doubt:
        return (f"a ratio that counts; {record.device.name}: {measured.sentence()}",)
    if not _reached(measured, least) and not _missed(measured, least):
        return (f"a tighter interval; {measured.sentence()} is on both sides of {least:g}x",)
    wrong = wrong_baselines(record.findings)
    gone = comparison.absent(record.measurements, claimed.precision, wrong=wrong, beside=claimed.name)
    text = f"a ratio to {gone}, the strongest baseline, which no session timed beside the claimed kernel"
    return (text,) if gone else ()


def _by_another_clock(evidence: Evidence, reached: Comparison, least: float) -> tuple[str, ...]:
    """Return reasons why a ratio by the clocks in the process of claimed code does not count."""
    record, against = evidence.record, list(_doubts(evidence.record))
    outside = independent_clock.ratio(record.measurements, evidence.claimed.name, reached.baseline)
    if outside is not None and not outside >= least:
        text = f"a clock outside of the kernel's process: {reached.sentence()} by events within it, "
        against.append(f"{text}{outside:.2f}x by the clock of another process")
    return tuple(against)


def _doubts(
    record: Record, probe: str = independent_clock.NAME, targets: Collection[str] | None = None
) -> tuple[str, ...]:
    """Return times that the clock of another process contradicts or lacks, or that another probe doubts, in words."""
    return tuple(
        f"a time that counts: {one.target}: {one.summary}"
        for one in record.findings
        if one.probe == probe and one.outcome != "pass" and (targets is None or one.target in targets)
    )


def _missed(measured: Comparison | None, least: float) -> bool:
    return measured is not None and not measured.doubt and (measured.ratio.high or math.inf) < least


def _reached(measured: Comparison, least: float) -> bool:
    return measured.doubt is None and measured.ratio.low is not None and measured.ratio.low >= least


def _open_hints(findings: list[Finding]) -> list[str]:
    """Return hints of the source review whose own probe was skipped: another device may confirm them."""
    skipped = {finding.probe for finding in findings if finding.outcome == "skip"}
    hints = [finding for finding in findings if finding.grade == "hint" and finding.evidence.get("standing") == "hint"]
    waiting = [hint for hint in hints if hint.evidence.get("confirm_with") in skipped]
    return [f"{hint.evidence['confirm_with']}, skipped here, on line {hint.line}: {hint.summary}" for hint in waiting]
