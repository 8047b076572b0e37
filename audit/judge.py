"""The judge stage: a pure function of the record. Only a proved failure convicts; skip and error never clear anyone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from audit import verdicts
from audit.ablation import AblationRow, ablation_table, root_cause
from audit.clearing import ESCAPES, KERNELS, PROVE_WRONG, REPLACED, missing
from audit.gpus import names_in
from audit.ladder import by_target, ladder
from audit.measure import Comparison, compared, strongest, wrong_baselines
from audit.model import Finding, Record, Speedup, Variant, Verdict, VerdictName
from audit.reconcile import deciding

__all__ = [
    "BASELINE",
    "MARGIN",
    "RULES",
    "AblationRow",
    "Evidence",
    "Rule",
    "ablation_table",
    "baseline_of",
    "judge",
    "ladder",
    "root_cause",
]

BASELINE = "baseline:eager"
CREDIT = "the published ratio is real"
"""Begins the reason that speaks for a claim whose ratio only a baseline given the same means takes away."""
MARGIN = 0.1
"""A measured ratio may fall this far short of the published one and still confirm it."""
FLOOR, TASK, OTHER_INPUTS = "floor", "task", "distributions"


def baseline_of(precision: str) -> str:
    """The baseline of the same precision class: fp32 against fp32, rounded inputs against TF32."""
    return BASELINE if precision == "fp32" else f"{BASELINE}_tf32"


@dataclass(frozen=True)
class Evidence:
    """What the rules look at; `findings` are those about the claimed kernel that decide."""

    record: Record
    claimed: Variant
    findings: list[Finding]


@dataclass(frozen=True)
class Rule:
    """One rule: the verdicts it can give, when it gives one, in words, and the function that gives it or None."""

    name: str
    verdicts: tuple[VerdictName, ...]
    when: str
    verdict: Callable[[Evidence], Verdict | None]


def judge(record: Record) -> Verdict:
    """The verdict the findings and measurements of the record support: that of the first rule which gives one."""
    claimed = record.claim.statement.claimed
    if claimed is None:
        return _undecided(record, ["the claim folder has no variant of role claimed"])
    findings = deciding(by_target(record.findings).get(claimed.name, []))
    evidence = Evidence(record, claimed, findings)
    given = (rule.verdict(evidence) for rule in RULES)
    return next(verdict for verdict in given if verdict is not None)


def _proved_wrong(evidence: Evidence) -> Verdict | None:
    convictions = [finding for finding in evidence.findings if finding.convicts and finding.probe in PROVE_WRONG]
    if not convictions:
        return None
    return verdicts.wrong(convictions, root_cause=root_cause(evidence.record), strawmen=_strawmen(evidence.record))


def _strawmen(record: Record) -> list[Finding]:
    about = deciding(finding for finding in record.findings if finding.probe == TASK)
    return [finding for finding in about if finding.convicts]


def _task_cannot_tell(evidence: Evidence) -> Verdict | None:
    strawmen = _strawmen(evidence.record)
    passed = [finding for finding in evidence.findings if finding.probe == OTHER_INPUTS and finding.outcome == "pass"]
    elsewhere = [finding for finding in passed if finding.evidence.get("discriminating")]
    return verdicts.vacuous(strawmen, elsewhere) if strawmen else None


def _unanswered(evidence: Evidence) -> Verdict | None:
    lacking = missing(evidence.findings)
    return _undecided(evidence.record, lacking) if lacking else None


def _process_replaced(evidence: Evidence) -> Verdict | None:
    replaced = [finding for finding in evidence.findings if finding.convicts and finding.probe == REPLACED]
    return verdicts.void(replaced[0]) if replaced else None


def _work_escapes(evidence: Evidence) -> Verdict | None:
    late = [finding for finding in evidence.findings if finding.convicts and finding.probe in ESCAPES]
    return verdicts.unseen(late, root_cause=root_cause(evidence.record)) if late else None


def _work_of_others(evidence: Evidence) -> Verdict | None:
    idle = [finding for finding in evidence.findings if finding.convicts and finding.probe == KERNELS]
    return verdicts.not_its_own(evidence.record, idle[0]) if idle else None


def _impossible_time(evidence: Evidence) -> Verdict | None:
    impossible = [finding for finding in evidence.record.findings if finding.probe == FLOOR and finding.convicts]
    return verdicts.mistimed(evidence.record, impossible) if impossible else None


def _measured_speed(evidence: Evidence) -> Verdict | None:
    return _speed(evidence.record, evidence.claimed, _open_hints(evidence.findings))


def _open_hints(findings: list[Finding]) -> list[str]:
    """Hints of the source review whose own probe was skipped: another device may prove what they point at."""
    skipped = {finding.probe for finding in findings if finding.outcome == "skip"}
    hints = [finding for finding in findings if finding.grade == "hint" and finding.evidence.get("standing") == "hint"]
    waiting = [hint for hint in hints if hint.evidence.get("confirm_with") in skipped]
    return [f"{hint.evidence['confirm_with']}, skipped here, on line {hint.line}: {hint.summary}" for hint in waiting]


def _speed(record: Record, claimed: Variant, hints: list[str]) -> Verdict:
    """The verdict on a right kernel: only times measured on a GPU the claim names can give one.

    It rests on the ratio to the strongest baseline of the kernel's precision class or better, and on its interval.
    """
    baseline = strongest(record.measurements, claimed.precision, wrong=wrong_baselines(record.findings))
    measured = baseline and compared(record.measurements, claimed.name, baseline)
    if not measured:
        untimed = f"a time: {record.device.name} gives none; audit the claim on a GPU it names"
        return _undecided(record, [*hints, untimed])
    here = names_in(record.device.name)
    published = next((one for one in record.claim.statement.speedup if one.gpu in here), None)
    if published is None:
        named, told = ", ".join(one.gpu for one in record.claim.statement.speedup) or "no GPU", measured.sentence()
        return _undecided(record, [f"a time on a GPU the claim names ({named}); {record.device.name}: {told}"])
    least, low, high = published.ratio * (1 - MARGIN), measured.ratio.low, measured.ratio.high
    if measured.doubt or low is None or high is None:
        return _undecided(record, [f"a ratio that counts; {record.device.name}: {measured.sentence()}"])
    if low < least <= high:
        return _undecided(record, [f"a tighter interval; {measured.sentence()} is on both sides of {least:g}x"])
    return _of_speed(record, published, measured, confirmed=low >= least)


def _of_speed(record: Record, published: Speedup, measured: Comparison, *, confirmed: bool) -> Verdict:
    claimed = record.claim.statement.claimed
    eager = None if claimed is None or measured.baseline == BASELINE else compared(
        record.measurements, claimed.name, BASELINE
    )  # fmt: skip
    told = f"measured {measured.sentence()} against {measured.baseline}, the strongest baseline of its precision class"
    told += f"; {eager.sentence()} against {BASELINE}" if eager else ""
    real = not confirmed and eager is not None and _reached(published, eager)
    credit = f"the published ratio is real against {BASELINE}; {measured.baseline} needs no kernel of the claim's"
    return Verdict(
        name="confirmed" if confirmed else "overstated",
        reasons=(f"{published.gpu}: claimed {published.ratio:g}x, {told}", *([credit] if real else [])),
        confidence="medium",
        confidence_reason="every correctness probe passed; one GPU, interleaved with its baselines in one session",
        scope=f"speed on {record.device.name}, at the claimed shape",
    )


def _reached(published: Speedup, measured: Comparison) -> bool:
    low = measured.ratio.low
    return measured.doubt is None and low is not None and low >= published.ratio * (1 - MARGIN)


def _undecided(record: Record, missing: list[str]) -> Verdict:
    return Verdict(
        name="undecided",
        reasons=("the evidence does not suffice to judge",),
        confidence="low",
        confidence_reason="something needed for a verdict is missing",
        scope=f"what {record.device.name} could answer",
        missing=tuple(missing),
    )


RULES: tuple[Rule, ...] = (
    Rule(
        "proved wrong", ("wrong",), "a probe proved the claimed kernel wrong, or a timed call's output", _proved_wrong
    ),
    Rule("the task cannot tell", ("vacuous",), "a strawman passes the task at its own tolerance", _task_cannot_tell),
    Rule(
        "an answer is missing",
        ("undecided",),
        "the build failed, a probe that must answer was not asked or skipped, or any probe ended in an error or in a "
        "wrong value beside undefined behaviour; the report names each",
        _unanswered,
    ),
    Rule(
        "its process was changed",
        ("mistimed",),
        "right, but it replaced clocks, checks or hooks of its process: what was timed or checked there is void",
        _process_replaced,
    ),
    Rule(
        "its work goes unseen",
        ("mistimed",),
        "right once the whole device has come to rest, but a probe proved that its stream does not wait for its work: "
        "a clock on that stream sees a part of it",
        _work_escapes,
    ),
    Rule("others did the work", ("overstated",), "right, but none of the source's own kernels ran", _work_of_others),
    Rule(
        "impossible time",
        ("mistimed",),
        "right, but a published time is under what the fastest unit of the GPU it names allows",
        _impossible_time,
    ),
    Rule(
        "measured speed",
        ("undecided", "confirmed", "overstated"),
        f"right: undecided where nothing timed it on a GPU the claim names or its samples cannot tell; confirmed if "
        f"the ratio to the strongest baseline of its precision class reaches {1 - MARGIN:.0%} of the published one "
        "with its whole 95 % interval, overstated if it stays below with all of it",
        _measured_speed,
    ),
)
"""In the order they are tried; the last always gives a verdict."""
