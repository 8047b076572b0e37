"""Every variant's place: cleared, convicted, undefined or undecided, from the findings alone."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from audit.judge.clearing import missing, undefined
from audit.judge.reconcile import deciding
from audit.measure import median_ms
from audit.model import Claim, Finding, Measurement, Rung, Variant


def ladder(claim: Claim, findings: Iterable[Finding], measurements: Iterable[Measurement] = ()) -> tuple[Rung, ...]:
    """Every variant's place, in the order of `claim.toml`; only a cleared variant has a time."""
    grouped, known = by_target(findings), tuple(measurements)
    rungs = [_rung(variant, deciding(grouped.get(variant.name, []))) for variant in claim.variant]
    return tuple(
        rung.model_copy(update={"median_ms": median_ms(known, rung.variant)}) if rung.state == "cleared" else rung
        for rung in rungs
    )


def by_target(findings: Iterable[Finding]) -> dict[str, list[Finding]]:
    """Findings by what they are about."""
    ordered = sorted(findings, key=lambda finding: finding.target)
    return {target: list(group) for target, group in groupby(ordered, key=lambda finding: finding.target)}


def _rung(variant: Variant, findings: list[Finding]) -> Rung:
    convictions = [finding for finding in findings if finding.convicts]
    lacking, unsound = missing(findings), undefined(findings)
    state, reason = "cleared", "every probe passed"
    if convictions:
        state, reason = "convicted", f"{convictions[0].probe}: {convictions[0].summary}"
    elif unsound:
        state, reason = "undefined", f"{unsound[0].probe}: {unsound[0].summary}"
    elif lacking:
        state, reason = "undecided", lacking[0]
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
