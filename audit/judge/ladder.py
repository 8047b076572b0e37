"""The rung of every variant by the findings that count, and the table of the claimed kernel and its ablations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from audit.judge.evidence import deciding_about, missing, undefined
from audit.measure import median_ms
from audit.model import Claim, Finding, Measurement, Record, Rung, Variant
from audit.model.record import RungState


@dataclass(frozen=True)
class AblationRow:
    """One row of the ablation table; the two outcomes are "right", "wrong" or "no answer"."""

    variant: str
    changes: tuple[str, ...]
    claim_first: str
    reference_first: str
    right: bool


def ladder(claim: Claim, findings: Iterable[Finding], measurements: Iterable[Measurement] = ()) -> tuple[Rung, ...]:
    """Return every variant's rung, in the order of `claim.toml`; only a passing variant has a time."""
    known = tuple(measurements)
    return tuple(
        rung.model_copy(update={"median_ms": median_ms(known, rung.variant)}) if rung.state == "passed" else rung
        for rung in rungs(claim.variant, findings)
    )


def rungs(variants: Iterable[Variant], findings: Iterable[Finding]) -> list[Rung]:
    """Return the rungs of those variants, without times."""
    known = tuple(findings)
    return [_rung(variant, deciding_about(known, variant.name)) for variant in variants]


def _rung(variant: Variant, findings: list[Finding]) -> Rung:
    failures = [finding for finding in findings if finding.fails_kernel]
    lacking, unsound = missing(findings), undefined(findings)
    state: RungState = "passed"
    reason = "every probe passed"
    if failures:
        state, reason = "failed", f"{failures[0].probe}: {failures[0].summary}"
    elif unsound:
        state, reason = "undefined", f"{unsound[0].probe}: {unsound[0].summary}"
    elif lacking:
        state, reason = "undecided", lacking[0]
    return Rung(
        variant=variant.name,
        role=variant.role,
        technique=variant.technique,
        precision=variant.precision,
        state=state,
        reason=reason,
    )


def ablation_table(record: Record) -> list[AblationRow]:
    """Return the rows of the claimed kernel and its ablations, generated ones included."""
    own = [variant for variant in record.claim.statement.variant if variant.role in ("claimed", "ablation")]
    rows = [*own, *(one.variant for one in record.generated)]
    states = {rung.variant: rung.state for rung in rungs(rows, record.findings)}
    return [_ablation_row(variant, record.findings, states[variant.name] == "passed") for variant in rows]


def cure(record: Record) -> str | None:
    """Return the smallest change that makes the claimed kernel right, in one sentence; None if the table has none. A
    generated change is tested less than an ablation, so its sentence is limited to the tested shapes."""
    table = ablation_table(record)
    changed = [row for row in table if row.changes]
    cures = [row for row in changed if row.right]
    if not table or table[0].right or not cures:
        return None
    least = min(len(row.changes) for row in cures)
    cure = " or ".join(_named(row.changes) for row in cures if len(row.changes) == least)
    others = [row for row in changed if not row.right]
    tail = "".join(f"; {_named(row.changes)} alone {_effect(row, table[0])}" for row in others)
    if record.generated:
        return f"With {cure} alone the kernel is right at the shapes asked{tail}."
    return f"Changing only {cure} makes the kernel right{tail}."


def _ablation_row(variant: Variant, findings: Iterable[Finding], right: bool) -> AblationRow:
    answers = [one for one in deciding_about(findings, variant.name) if one.probe == "order"]
    evidence = next((one.evidence for one in reversed(answers) if one.outcome in ("pass", "fail")), {})
    return AblationRow(
        variant=variant.name,
        changes=variant.changes,
        claim_first=_in_words(evidence.get("claim_first")),
        reference_first=_in_words(evidence.get("reference_first")),
        right=right,
    )


def _in_words(side: object) -> str:
    right = side.get("right") if isinstance(side, dict) else None
    if not isinstance(right, bool):
        return "no answer"
    return "right" if right else "wrong"


def _named(changes: tuple[str, ...]) -> str:
    return "the " + " and the ".join(changes)


def _effect(row: AblationRow, claimed: AblationRow) -> str:
    if (row.claim_first, row.reference_first) == (claimed.claim_first, claimed.reference_first):
        return "changes nothing"
    if (row.claim_first, row.reference_first) == ("wrong", "wrong"):
        return "only makes the defect show in both execution orders"
    return "does not make it right"
