"""The rating a review form asks for, derived from the verdict and its confidence."""

from __future__ import annotations

from audit.model import Record, VerdictName
from audit.report import outcome
from audit.report.said import Said, say
from audit.report.view import Section

SCALE = say(
    "Support: 1 the evidence contradicts the claim, 2 it supports a smaller claim, 3 it supports the claim with "
    "reservations, 4 it supports the claim. Confidence: from 1, a guess, to 5, certain. Both follow from the verdict."
)
CONTRADICTED, SMALLER = say("1 of 4: the evidence contradicts the claim"), say("2 of 4: it supports a smaller claim")
RESERVED, SUPPORTED = say("3 of 4: it supports the claim with reservations"), say("4 of 4: it supports the claim")
UNRATED = say("no rating: the evidence does not suffice")
SUPPORT: dict[VerdictName, Said] = {
    "wrong": CONTRADICTED,
    "mistimed": CONTRADICTED,
    "vacuous": CONTRADICTED,
    "undefined": SMALLER,
    "reduced precision": SMALLER,
    "overstated": SMALLER,
    "weak baseline": RESERVED,
    "confirmed": SUPPORTED,
}
CONFIDENCE = {"high": "4 of 5: {reason}", "medium": "3 of 5: {reason}", "low": "2 of 5: {reason}"}


def section(record: Record) -> Section:
    """Support and confidence on their scales."""
    facts: list[tuple[str, str]] = [(say("Support for the claim"), support(record))]
    level, reason = record.verdict.confidence, outcome.confidence(record)
    if level is not None and reason is not None:
        facts.append((say("Confidence of this audit"), say(CONFIDENCE[level], reason=reason)))
    return Section(say("Rating"), "rating", paragraphs=(SCALE,), facts=tuple(facts))


def support(record: Record) -> Said:
    """How far the evidence carries the claim."""
    return SUPPORT.get(record.verdict.name, UNRATED)
