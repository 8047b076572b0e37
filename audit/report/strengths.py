"""What speaks for the claim, from what passed."""

from __future__ import annotations

from audit.model import Record
from audit.report import evidence
from audit.report.quantities import sentence
from audit.report.view import Section


def section(record: Record) -> Section:
    """Passed probes of the claimed kernel, what was published openly, and repairs that work."""
    bullets = (*_passed(record), *_published(record), *_repairs(record))
    paragraphs = () if bullets else ("No probe of the claimed kernel has passed in this audit.",)
    return Section("Strengths", "strengths", paragraphs=paragraphs, bullets=bullets)


def _passed(record: Record) -> list[str]:
    passed = [finding for finding in evidence.of_claim(record) if finding.outcome == "pass"]
    return [f"{evidence.title(finding.probe)}: {sentence(finding.summary)}" for finding in passed]


def _published(record: Record) -> list[str]:
    claim = record.claim.statement
    told = []
    if claim.protocol.steps:
        told.append(f"The evaluation protocol is known step by step ({len(claim.protocol.steps)} steps).")
    if claim.protocol.flags:
        told.append("The compiler flags are known.")
    if claim.source.fidelity == "verbatim":
        told.append("The kernel's source is published, and this audit ran it as published.")
    return told


def _repairs(record: Record) -> list[str]:
    states = {rung.variant: rung.state for rung in record.ladder}
    names = [rung.variant for rung in record.ladder if rung.state == "cleared" and rung.role in ("ablation", "repair")]
    if not names or states.get(evidence.claimed_name(record) or "") == "cleared":
        return []
    return [f"The stated task can be done: {', '.join(names)} cleared by every probe that had to answer."]
