"""What speaks for the claim, from what passed."""

from __future__ import annotations

from audit.model import Record
from audit.report import evidence
from audit.report.quantities import sentence
from audit.report.said import listed, say
from audit.report.view import Section


def section(record: Record) -> Section:
    """Passed probes of the claimed kernel, what was published openly, and repairs that work."""
    bullets = (*_passed(record), *_published(record), *_repairs(record))
    paragraphs = () if bullets else (say("No probe of the claimed kernel has passed in this audit."),)
    return Section(say("Strengths"), "strengths", paragraphs=paragraphs, bullets=bullets)


def _passed(record: Record) -> list[str]:
    passed = [finding for finding in evidence.of_claim(record) if finding.outcome == "pass"]
    return [
        say("{question}: {answer}", question=evidence.title(one.probe), answer=sentence(one.summary)) for one in passed
    ]


def _published(record: Record) -> list[str]:
    claim = record.claim.statement
    told: list[str] = []
    if claim.protocol.steps:
        count = str(len(claim.protocol.steps))
        told.append(say("The evaluation protocol is known step by step ({count} steps).", count=count))
    if claim.protocol.flags:
        told.append(say("The compiler flags are known."))
    if claim.source.fidelity == "verbatim":
        told.append(say("The kernel's source is published, and this audit ran it as published."))
    return told


def _repairs(record: Record) -> list[str]:
    states = {rung.variant: rung.state for rung in record.ladder}
    names = [rung.variant for rung in record.ladder if rung.state == "cleared" and rung.role in ("ablation", "repair")]
    if not names or states.get(evidence.claimed_name(record) or "") == "cleared":
        return []
    text = "The stated task can be done: {variants} cleared by every probe that had to answer."
    return [say(text, variants=listed(", ", names))]
