"""The judge stage: a pure function of the record. Only a proved failure convicts; skip and error never clear anyone."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from audit.gpus import names_in
from audit.measure import median_ms, speedup
from audit.model import Claim, Finding, Measurement, Record, Rung, Variant, Verdict

BUILD = "build"
KERNELS = "kernels_ran"
BASELINE = "baseline:eager"
MARGIN = 0.1
"""A measured ratio may fall this far short of the published one and still confirm it."""
CORRECTNESS = ("contract", "agreement", "order", "coverage", "inherited", "inputs_intact", "memory_access")
"""The probes that decide whether a variant is right; `memory_access` blocks nothing when skipped."""
OPTIONAL = ("memory_access",)


@dataclass(frozen=True)
class AblationRow:
    """One row of the ablation table; the two outcomes are "right", "wrong" or "no answer"."""

    variant: str
    changes: tuple[str, ...]
    claim_first: str
    reference_first: str
    right: bool


def baseline_of(precision: str) -> str:
    """The baseline of the same precision class: fp32 against fp32, rounded inputs against TF32."""
    return BASELINE if precision == "fp32" else f"{BASELINE}_tf32"


def ladder(claim: Claim, findings: Iterable[Finding], measurements: Iterable[Measurement] = ()) -> tuple[Rung, ...]:
    """Every variant's place, in the order of `claim.toml`; only a cleared variant has a time."""
    by_target, known = _by_target(findings), tuple(measurements)
    rungs = [_rung(variant, by_target.get(variant.name, [])) for variant in claim.variant]
    return tuple(
        rung.model_copy(update={"median_ms": median_ms(known, rung.variant)}) if rung.state == "cleared" else rung
        for rung in rungs
    )


def ablation_table(record: Record) -> list[AblationRow]:
    """The claimed kernel and its one-change ablations, each in both execution orders."""
    claim = record.claim.statement
    rows = [variant for variant in claim.variant if variant.role in ("claimed", "ablation")]
    states = {rung.variant: rung.state for rung in ladder(claim, record.findings)}
    return [_ablation_row(variant, record.findings, states[variant.name] == "cleared") for variant in rows]


def root_cause(record: Record) -> str | None:
    """The smallest change that makes the claimed kernel right, in one sentence; None where the table cannot tell."""
    table = ablation_table(record)
    changed = [row for row in table if row.changes]
    cures = [row for row in changed if row.right]
    if not table or table[0].right or not cures:
        return None
    least = min(len(row.changes) for row in cures)
    cure = " or ".join(_named(row.changes) for row in cures if len(row.changes) == least)
    others = [row for row in changed if not row.right]
    tail = "".join(f"; {_named(row.changes)} alone {_effect(row, table[0])}" for row in others)
    return f"Changing only {cure} makes the kernel right{tail}."


def judge(record: Record) -> Verdict:
    """The verdict the findings and measurements of the record support."""
    claim = record.claim.statement
    if claim.claimed is None:
        return _undecided(record, ["the claim folder has no variant of role claimed"])
    findings = _by_target(record.findings).get(claim.claimed.name, [])
    convictions = [finding for finding in findings if finding.convicts and finding.probe in CORRECTNESS]
    if convictions:
        return _wrong(record, convictions)
    missing = _missing(findings)
    if missing:
        return _undecided(record, missing)
    idle = [finding for finding in findings if finding.convicts and finding.probe == KERNELS]
    if idle:
        return _not_its_own(record, idle[0])
    impossible = [finding for finding in record.findings if finding.probe == "floor" and finding.convicts]
    if impossible:
        return _mistimed(record, impossible)
    return _speed(record, claim.claimed)


def _speed(record: Record, claimed: Variant) -> Verdict:
    """The verdict on a right kernel: only times measured on a GPU the claim names can give one."""
    baseline = baseline_of(claimed.precision)
    measured = speedup(record.measurements, claimed.name, baseline)
    if measured is None:
        return _undecided(record, [f"a time: {record.device.name} gives none; audit the claim on a GPU it names"])
    here = names_in(record.device.name)
    published = next((one for one in record.claim.statement.speedup if one.gpu in here), None)
    if published is None:
        named = ", ".join(one.gpu for one in record.claim.statement.speedup) or "no GPU"
        return _undecided(record, [f"a time on a GPU the claim names ({named}); {record.device.name}: {measured:.2f}x"])
    confirmed = measured >= published.ratio * (1 - MARGIN)
    return Verdict(
        name="confirmed" if confirmed else "overstated",
        reasons=(f"{published.gpu}: claimed {published.ratio:g}x, measured {measured:.2f}x against {baseline}",),
        confidence="medium",
        confidence_reason="every correctness probe passed; one timing session, one baseline",
        scope=f"speed on {record.device.name}, at the claimed shape",
    )


def _wrong(record: Record, convictions: list[Finding]) -> Verdict:
    probes = {finding.probe for finding in convictions}
    confirmed = all(finding.confirmed is not False for finding in convictions)
    high = len(probes) > 1 and confirmed
    return Verdict(
        name="wrong",
        reasons=tuple(f"{finding.probe}: {finding.summary}" for finding in convictions),
        root_cause=root_cause(record),
        confidence="high" if high else "medium",
        confidence_reason=f"{len(probes)} independent probe{'s' * (len(probes) > 1)} failed"
        + (", each also in a second build" if all(finding.confirmed for finding in convictions) else ""),
        scope="the kernel as audited, on any GPU: a result that is wrong here is wrong everywhere; "
        "no speed of it is reported",
    )


def _not_its_own(record: Record, finding: Finding) -> Verdict:
    return Verdict(
        name="overstated",
        reasons=(f"{finding.probe}: {finding.summary}",),
        confidence="medium",
        confidence_reason="the result is right, and none of the source's kernels produced it",
        scope=f"the shape of the finding, on {record.device.name}; a published time is that of the library",
    )


def _mistimed(record: Record, impossible: list[Finding]) -> Verdict:
    gpus = ", ".join(finding.target for finding in impossible)
    return Verdict(
        name="mistimed",
        reasons=tuple(finding.summary for finding in impossible),
        confidence="medium",
        confidence_reason="the kernel passed every correctness probe; the published time is under a data-sheet floor",
        scope=f"the published times on {gpus}; nothing was timed on {record.device.name}",
    )


def _undecided(record: Record, missing: list[str]) -> Verdict:
    return Verdict(
        name="undecided",
        reasons=("the evidence does not suffice to judge",),
        confidence="low",
        confidence_reason="something needed for a verdict is missing",
        scope=f"what {record.device.name} could answer",
        missing=tuple(missing),
    )


def _missing(findings: list[Finding]) -> list[str]:
    builds = [finding.summary for finding in findings if finding.probe == BUILD and finding.outcome != "pass"]
    if builds:
        return [f"a build: {summary}" for summary in builds]
    answers = {finding.probe: finding for finding in findings}
    unanswered = [probe for probe in CORRECTNESS if probe not in answers]
    open_answers = [
        finding
        for probe, finding in answers.items()
        if probe in CORRECTNESS and not _answered(finding) and not (probe in OPTIONAL and finding.outcome == "skip")
    ]
    return [f"{probe}: not asked" for probe in unanswered] + [f"{f.probe}: {f.summary}" for f in open_answers]


def _answered(finding: Finding) -> bool:
    """A pass answers; so does undefined access whose result is right. A wrong value of unclear cause does not."""
    return finding.outcome == "pass" or (finding.grade == "undefined" and finding.probe in OPTIONAL)


def _rung(variant: Variant, findings: list[Finding]) -> Rung:
    convictions = [finding for finding in findings if finding.convicts]
    missing = _missing(findings)
    state, reason = "cleared", "every probe passed"
    if convictions:
        state, reason = "convicted", f"{convictions[0].probe}: {convictions[0].summary}"
    elif missing:
        state, reason = "undecided", missing[0]
    elif undefined := [finding for finding in findings if finding.grade == "undefined"]:
        reason = f"right, with undefined behaviour: {undefined[0].summary}"
    return Rung.model_validate(
        {
            "variant": variant.name,
            "role": variant.role,
            "technique": variant.technique,
            "precision": variant.precision,
            "state": state,
            "reason": reason,
        }
    )


def _ablation_row(variant: Variant, findings: Iterable[Finding], right: bool) -> AblationRow:
    answers = [finding for finding in findings if finding.target == variant.name and finding.probe == "order"]
    evidence = answers[0].evidence if answers else {}
    return AblationRow(
        variant=variant.name,
        changes=variant.changes,
        claim_first=_in_words(evidence.get("claim_first")),
        reference_first=_in_words(evidence.get("reference_first")),
        right=right,
    )


def _in_words(side: object) -> str:
    if not isinstance(side, dict):
        return "no answer"
    return "right" if side["right"] else "wrong"


def _named(changes: tuple[str, ...]) -> str:
    return "the " + " and the ".join(changes)


def _effect(row: AblationRow, claimed: AblationRow) -> str:
    if (row.claim_first, row.reference_first) == (claimed.claim_first, claimed.reference_first):
        return "changes nothing"
    if (row.claim_first, row.reference_first) == ("wrong", "wrong"):
        return "only makes the defect show in both execution orders"
    return "does not make it right"


def _by_target(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    ordered = sorted(findings, key=lambda finding: finding.target)
    return {target: list(group) for target, group in groupby(ordered, key=lambda finding: finding.target)}
