"""The verdict card: what the verdict means in one sentence, how sure it is and for what it speaks."""

from __future__ import annotations

from audit.judge import CREDIT
from audit.model import Record, VerdictName
from audit.report import evidence
from audit.report.said import Told, say
from audit.report.view import Card, Figure, Section, Tone

HEADLINES: dict[VerdictName, tuple[Tone, str]] = {
    "wrong": ("fails", say("The kernel audited does not compute the stated result.")),
    "mistimed": ("fails", say("The published time is not the time of the stated work.")),
    "vacuous": ("fails", say("The task as stated cannot tell a right kernel from a wrong one.")),
    "overstated": (
        "fails",
        say("The result is right; against the strongest baseline the published ratio is not reached."),
    ),
    "confirmed": ("holds", say("The kernel is right and the claimed speedup was seen on the hardware measured.")),
    "undecided": ("open", say("This audit does not decide the claim; what is missing is listed below.")),
    "not-applicable": ("open", say("The hardware of this audit cannot answer the question the claim raises.")),
    "incomplete": ("open", say("The audit has not finished; nothing below is a verdict.")),
}

REAL = say("The result is right and the published ratio is real; a baseline given the same means reaches it too.")
LESS_PRECISE = say("The kernel audited computes the result with fewer bits than it declares.")
NOT_ITS_OWN = say("The result is right; none of the source's own kernels made it.")
BLIND_TASK = say("at its own inputs it cannot tell a right kernel from one that computes nothing")


def notice(record: Record) -> str | None:
    """The words above everything else in the report of an audit that has not finished."""
    if record.verdict.name != "incomplete":
        return None
    return say(
        "INCOMPLETE: this audit was cut short or is still running. "
        "What follows is what it had recorded so far, not a verdict."
    )


def section(record: Record, figures: tuple[Figure, ...]) -> Section:
    """The verdict with confidence, scope and root cause, beside the figure that says most."""
    return Section(say("Verdict"), "verdict", card=_card(record), figures=figures)


def _card(record: Record) -> Card:
    verdict = record.verdict
    tone, headline = HEADLINES[verdict.name]
    if verdict.name == "overstated" and evidence.proved(record) == {"kernels_ran"}:
        headline = NOT_ITS_OWN
    if any(reason.startswith(CREDIT) for reason in verdict.reasons):
        tone, headline = "open", REAL
    if verdict.name == "wrong" and evidence.proved(record) == {"precision"}:
        headline = LESS_PRECISE
    blind = BLIND_TASK if evidence.blind_tasks(record) and verdict.name != "vacuous" else None
    told = (
        (say("Root cause"), verdict.root_cause and Told(verdict.root_cause)),
        (say("Task"), blind),
        (say("Confidence"), confidence(record)),
        (say("Scope"), verdict.scope and Told(verdict.scope)),
    )
    return Card(
        name=Told(verdict.name),
        headline=headline,
        tone=tone,
        facts=tuple((name, text) for name, text in told if text),
        reasons=tuple(Told(reason) for reason in verdict.reasons),
        missing=tuple(Told(reason) for reason in verdict.missing),
    )


def confidence(record: Record) -> str | None:
    """How sure the verdict is and why; None where it does not say."""
    level, reason = record.verdict.confidence, record.verdict.confidence_reason
    if level is None or not reason:
        return level and Told(level)
    return say("{level} ({reason})", level=Told(level), reason=Told(reason))
