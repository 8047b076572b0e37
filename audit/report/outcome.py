"""The verdict card: the headline in one sentence, the three answers it is made of, how sure it is, where it speaks."""

from __future__ import annotations

from itertools import groupby

from audit.model import Answer, Place, Record, Verdict, VerdictName
from audit.report.quantities import number, shape
from audit.report.said import Told, listed, say
from audit.report.view import Card, Figure, Section, Tone

HEADLINES: dict[VerdictName, tuple[Tone, str]] = {
    "wrong": ("fails", say("The kernel audited does not compute the stated result.")),
    "mistimed": ("fails", say("The published time is not the time of the stated work.")),
    "vacuous": ("fails", say("The task as stated cannot tell a right kernel from a wrong one.")),
    "overstated": (
        "fails",
        say("The result is right; against the strongest baseline the published ratio is not reached."),
    ),
    "weak baseline": (
        "open",
        say("The result is right and the published ratio is real; a baseline given the same means reaches it too."),
    ),
    "undefined": ("fails", say("The kernel audited has undefined behaviour, whatever values came out.")),
    "cannot be built": ("fails", say("The claimed source does not compile, by the compiler it is written for.")),
    "reduced precision": ("open", say("The kernel audited computes the result with fewer bits than it declares.")),
    "no defect found": ("open", say("The result is right in every question asked; its speed is not decided here.")),
    "confirmed": ("holds", say("The kernel is right and the claimed speedup was seen on the hardware measured.")),
    "undecided": ("open", say("This audit does not decide the claim; what is missing is listed below.")),
    "not-applicable": ("open", say("The hardware of this audit cannot answer the question the claim raises.")),
    "incomplete": ("open", say("The audit has not finished; nothing below is a verdict.")),
}

NOT_ITS_OWN = say("The result is right; none of the source's own kernels made it.")
BLIND_TASK = say("at its own inputs it cannot tell a right kernel from one that computes nothing")
BLIND = ("cannot tell", "only at other inputs")
MOST_PLACES = 6


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
    if verdict.ratio is not None and verdict.ratio.state == "not its own" and verdict.name == "overstated":
        headline = NOT_ITS_OWN
    told = (
        *answers(verdict),
        (say("Root cause"), verdict.root_cause and Told(verdict.root_cause)),
        (say("Confidence"), confidence(record)),
        (say("Scope"), verdict.scope and Told(verdict.scope)),
        (say("First published as"), _before(verdict)),
    )
    return Card(
        name=Told(verdict.name),
        headline=headline,
        tone=tone,
        facts=tuple((name, text) for name, text in told if text),
        reasons=tuple(Told(reason) for reason in verdict.reasons),
        missing=tuple(Told(reason) for reason in verdict.missing),
    )


def answers(verdict: Verdict) -> tuple[tuple[str, str | None], ...]:
    """The three questions with their answers; none before the judge has spoken."""
    result, task, ratio = verdict.result, verdict.task, verdict.ratio
    if result is None or task is None or ratio is None:
        return ()
    blind = say("{state}: {why}", state=Told(task.state), why=BLIND_TASK) if task.state in BLIND else None
    told = {*verdict.reasons, *verdict.missing}
    why = next((reason for reason in ratio.reasons if reason not in told), None)
    reached = say("{state}: {why}", state=Told(ratio.state), why=Told(why)) if why else Told(ratio.state)
    return (
        (say("Is the result right"), _with_places(result, Told(result.state))),
        (say("Can the task tell"), _with_places(task, blind or Told(task.state))),
        (say("Was the ratio reached"), _with_places(ratio, reached)),
    )


def _with_places(answer: Answer, told: str) -> str:
    """An answer and the shapes and devices it speaks of."""
    if not answer.places:
        return told
    shown = answer.places[:MOST_PLACES]
    left = len(answer.places) - len(shown)
    places = listed(
        "; ", (_on_device(list(alike)) for _, alike in groupby(shown, lambda one: (one.device, one.builds)))
    )
    text = say("{entries}; and {count} more", entries=places, count=number(left)) if left else places
    return say("{told} ({places})", told=told, places=text)


def _on_device(places: list[Place]) -> str:
    """Places of one device, shown by as many builds."""
    device, builds = Told(places[0].device or ""), places[0].builds
    shapes = listed(" / ", (shape(one.shape) for one in places if one.shape))
    where = say("{shape} on {device}", shape=shapes, device=device) if shapes and device else shapes or device
    return say("{place}, in {count} builds", place=where, count=number(builds)) if builds > 1 else where


def _before(verdict: Verdict) -> str | None:
    """The headline an older record was published with, where these rules give another."""
    return None if verdict.first_judged in (None, verdict.name) else Told(verdict.first_judged or "")


def confidence(record: Record) -> str | None:
    """How sure the verdict is and why; None where it does not say."""
    level, reason = record.verdict.confidence, record.verdict.confidence_reason
    if level is None or not reason:
        return level and Told(level)
    return say("{level} ({reason})", level=Told(level), reason=Told(reason))
