"""The verdict: its card with the three answers, and the rating that a review form asks for."""

from __future__ import annotations

from itertools import groupby

from audit.model import Place, Record, Verdict, VerdictName
from audit.model.record import RatioAnswer, ResultAnswer, TaskAnswer
from audit.report.messages import Message, Recorded, joined, message
from audit.report.quantities import number, shape
from audit.report.view import Card, Figure, Section, Tone

FAILS = ("wrong", "mistimed", "vacuous", "overstated", "undefined", "cannot be built")
HOLDS = ("confirmed",)
BLIND = ("cannot tell", "only at other inputs")
MOST_PLACES = 6
SUPPORT: dict[VerdictName, str] = {
    "wrong": "contradicted",
    "mistimed": "contradicted",
    "vacuous": "contradicted",
    "undefined": "smaller",
    "reduced precision": "smaller",
    "overstated": "smaller",
    "weak baseline": "reserved",
    "confirmed": "supported",
}


def notice(record: Record) -> str | None:
    """Return the words above the report of an audit that has not finished."""
    return message("page.incomplete") if record.verdict.name == "incomplete" else None


def section(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return the verdict with confidence, scope and root cause, beside the coverage figure."""
    return Section(message("verdict.title"), "verdict", card=_card(record), figures=figures)


def rating(record: Record) -> Section:
    """Return support and confidence on the scales of a review form."""
    facts: list[tuple[str, str]] = [(message("rating.support"), support(record))]
    level, reason = record.verdict.confidence, confidence(record)
    if level is not None and reason is not None:
        facts.append((message("rating.confidence"), message(f"rating.{level}", reason=reason)))
    return Section(message("rating.title"), "rating", paragraphs=(message("rating.scale"),), facts=tuple(facts))


def support(record: Record) -> Message:
    """Return how far the evidence carries the claim."""
    return message(f"rating.{SUPPORT.get(record.verdict.name, 'none')}")


def answers(verdict: Verdict) -> tuple[tuple[str, str | None], ...]:
    """Return the three questions with their answers; none before the judge has answered them."""
    result, task, ratio = verdict.result, verdict.task, verdict.ratio
    if result is None or task is None or ratio is None:
        return ()
    why_blind = message("answer.blind_task") if task.state in BLIND else None
    shown = {*verdict.reasons, *verdict.missing}
    why = next((Recorded(reason) for reason in ratio.reasons if reason not in shown), None)
    return (
        (message("answer.result"), _answered(result)),
        (message("answer.task"), _answered(task, why_blind)),
        (message("answer.ratio"), _answered(ratio, why)),
    )


def confidence(record: Record) -> str | None:
    """Return how sure the verdict is and why; None where it does not say."""
    level, reason = record.verdict.confidence, record.verdict.confidence_reason
    if level is None or not reason:
        return level and Recorded(level)
    return message("form.level_reason", level=Recorded(level), reason=Recorded(reason))


def _card(record: Record) -> Card:
    verdict = record.verdict
    borrowed = verdict.ratio is not None and verdict.ratio.state == "not its own" and verdict.name == "overstated"
    before = None if verdict.first_judged in (None, verdict.name) else verdict.first_judged
    facts = (
        *answers(verdict),
        (message("verdict.root_cause"), verdict.root_cause and Recorded(verdict.root_cause)),
        (message("verdict.confidence"), confidence(record)),
        (message("verdict.scope"), verdict.scope and Recorded(verdict.scope)),
        (message("verdict.before"), before and Recorded(before)),
    )
    return Card(
        name=Recorded(verdict.name),
        headline=message(f"headline.{'not its own' if borrowed else verdict.name}"),
        tone=_tone(verdict.name),
        facts=tuple((name, text) for name, text in facts if text),
        reasons=tuple(Recorded(reason) for reason in verdict.reasons),
        missing=tuple(Recorded(reason) for reason in verdict.missing),
    )


def _tone(name: VerdictName) -> Tone:
    if name in FAILS:
        return "fails"
    return "holds" if name in HOLDS else "open"


def _answered(answer: ResultAnswer | TaskAnswer | RatioAnswer, why: str | None = None) -> str:
    """Return an answer with its reason, and the shapes and devices it is about."""
    state: str = Recorded(answer.state)
    text = message("answer.because", state=state, why=why) if why else state
    if not answer.places:
        return text
    shown = answer.places[:MOST_PLACES]
    left = len(answer.places) - len(shown)
    alike = groupby(shown, lambda one: (one.device, one.builds))
    places: str = joined("semicolon", (_on_device(list(found)) for _, found in alike))
    if left:
        places = message("form.entries_and_more", entries=places, count=number(left))
    return message("answer.with_places", answer=text, places=places)


def _on_device(places: list[Place]) -> str:
    """Return places on one device, shown by as many builds."""
    device, builds = Recorded(places[0].device or ""), places[0].builds
    shapes = joined("slash", (shape(one.shape) for one in places if one.shape))
    where = message("answer.shape_on_device", shape=shapes, device=device) if shapes and device else shapes or device
    return message("answer.in_builds", place=where, count=number(builds)) if builds > 1 else where
