"""The verdict card: what the verdict means in one sentence, how sure it is and for what it speaks."""

from __future__ import annotations

from audit.model import Record, VerdictName
from audit.report import evidence
from audit.report.view import Card, Figure, Section, Tone

HEADLINES: dict[VerdictName, tuple[Tone, str]] = {
    "wrong": ("fails", "The kernel audited does not compute the stated result."),
    "mistimed": ("fails", "The published time is not the time of the stated work."),
    "vacuous": ("fails", "The task as stated cannot tell a right kernel from a wrong one."),
    "overstated": ("fails", "The result is right; against the strongest baseline the published ratio is not reached."),
    "confirmed": ("holds", "The kernel is right and the claimed speedup was seen on the hardware measured."),
    "undecided": ("open", "This audit does not decide the claim; what is missing is listed below."),
    "not-applicable": ("open", "The hardware of this audit cannot answer the question the claim raises."),
    "incomplete": ("open", "The audit has not finished; nothing below is a verdict."),
}

LESS_PRECISE = "The kernel audited computes the result with fewer bits than it declares."
NOT_ITS_OWN = "The result is right; none of the source's own kernels made it."
BLIND_TASK = "at its own inputs it cannot tell a right kernel from one that computes nothing"


def notice(record: Record) -> str | None:
    """The words above everything else in the report of an audit that has not finished."""
    if record.verdict.name != "incomplete":
        return None
    return (
        "INCOMPLETE: this audit was cut short or is still running. "
        "What follows is what it had recorded so far, not a verdict."
    )


def section(record: Record, figures: tuple[Figure, ...]) -> Section:
    """The verdict with confidence, scope and root cause, beside the figure that says most."""
    return Section("Verdict", "verdict", card=_card(record), figures=figures)


def _card(record: Record) -> Card:
    verdict = record.verdict
    tone, headline = HEADLINES[verdict.name]
    if verdict.name == "overstated" and evidence.proved(record) == {"kernels_ran"}:
        headline = NOT_ITS_OWN
    if verdict.name == "wrong" and evidence.proved(record) == {"precision"}:
        headline = LESS_PRECISE
    confidence = verdict.confidence and f"{verdict.confidence}" + (
        f" ({verdict.confidence_reason})" if verdict.confidence_reason else ""
    )
    blind = BLIND_TASK if evidence.blind_tasks(record) and verdict.name != "vacuous" else None
    told = (("Root cause", verdict.root_cause), ("Task", blind), ("Confidence", confidence), ("Scope", verdict.scope))
    return Card(
        name=verdict.name,
        headline=headline,
        tone=tone,
        facts=tuple((name, text) for name, text in told if text),
        reasons=verdict.reasons,
        missing=verdict.missing,
    )
