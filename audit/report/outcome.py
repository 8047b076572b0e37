"""Page one: the verdict with its evidence, the honest speed, what was not tested, and the rating of a review form."""

from __future__ import annotations

from itertools import groupby

from audit.judge.causes import device_name, shape_of
from audit.model import Finding, Place, Record, VerdictName
from audit.model.record import RatioAnswer, ResultAnswer, TaskAnswer
from audit.probes import configurations
from audit.report import cause, evidence, provenance, sizes, tables, times
from audit.report.messages import Message, Recorded, joined, message, number, shape
from audit.report.view import Card, Figure, Section, Tone

FAILS = ("wrong", "mistimed", "vacuous", "overstated", "undefined", "cannot be built")
HOLDS = ("confirmed",)
OF_THE_RATIO = ("overstated", "weak baseline", "confirmed")
LEADING = ("coverage", "memory_access", "fresh_values", "dead_inputs", "order", "agreement", "contract")
"""Probes whose failure, or pass, says most in one sentence; the others follow in the order of the record."""
HEADLINES = {"memory_access": "access", "inputs_intact": "intact", "distributions": "inputs"}
"""Questions that may fail a kernel whose values agree at the task's own inputs, each with the key of its headline."""
MOST_PIECES = 3
BLIND = ("cannot tell", "only at other inputs")
MOST_PLACES, FEWEST_ORDERS = 3, 2
SUPPORT: dict[VerdictName, str] = {
    "wrong": "contradicted",
    "mistimed": "contradicted",
    "vacuous": "contradicted",
    "undefined": "smaller",
    "aliased result": "smaller",
    "reduced precision": "smaller",
    "overstated": "smaller",
    "weak baseline": "reserved",
    "confirmed": "supported",
}


def notice(record: Record) -> str | None:
    """Return the words above the report of an audit that has not finished."""
    return message("page.incomplete") if record.verdict.name == "incomplete" else None


def section(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return page one but for the commands: the verdict, its evidence and what limits it, beside one figure."""
    return Section(message("verdict.title"), "verdict", card=_card(record), figures=figures)


def pieces(record: Record) -> tuple[str, ...]:
    """Return at most three pieces of evidence for the verdict, each with its shape and device.

    Where nothing failed, the last one is a hint of a probe, if there is one.
    """
    about = evidence.of_claim(record)
    failed = [one for one in about if one.grade in ("proved", "undefined") and evidence.against_claim(record, one)]
    failed = failed or unclaimed(record)
    passed = [one for one in about if one.outcome == "pass" and one.probe in LEADING]
    last = {one.probe: one for one in failed or passed}
    chosen = [*(last.pop(name) for name in LEADING if name in last), *last.values()]
    answer = record.verdict.ratio if record.verdict.name in OF_THE_RATIO else None
    told = tuple(f"{one.probe}: " for one in chosen)  # a reason that quotes a finding stands there with its place
    reasons = [text for text in (answer.reasons if answer else ()) if not text.startswith(told)]
    ratios = [message("form.sentence", sentence=Recorded(text)) for text in reasons[:1]]
    noted = [one for one in about if _is_hint(one) and f"{one.probe}: {one.summary}" not in record.verdict.missing]
    hints = [] if failed else noted[:1]
    found = (*ratios, *(_piece(record, one) for one in chosen))[: MOST_PIECES - len(hints)]
    return (*found, *(message("verdict.hint", piece=_piece(record, one)) for one in hints))


def unclaimed(record: Record) -> list[Finding]:
    """Return the observed failures that leave their questions open: the claim speaks of no shape that was asked."""
    found = (one for one in evidence.of_claim(record) if one.outcome == "fail" and not one.claimed)
    return [one for one in found if f"{one.probe}: {one.summary}" in record.verdict.missing]


def missing(record: Record) -> tuple[str, ...]:
    """Return what was not measured or not asked; what failed outside the claim lacks an answer within it."""
    observed = unclaimed(record)
    texts = {f"{one.probe}: {one.summary}" for one in observed}
    left = tuple(Recorded(reason) for reason in record.verdict.missing if reason not in texts)
    titles = joined("comma", dict.fromkeys(evidence.title(one.probe) for one in observed))
    return (*([message("verdict.at_claimed", questions=titles)] if observed else []), *left)


def next_step(record: Record) -> str | None:
    """Return what would decide a claim that the emulated device does not build, that is wrong with one of several
    configurations, or whose kernel failed at sizes that the kit chose, where none that counts fits that device."""
    shapes, found = record.claim.statement.shapes, unclaimed(record)
    builds = [one for one in evidence.of_claim(record) if one.probe == "build" and one.outcome == "skip"]
    if builds and record.device.kind != "cuda":
        return message("verdict.next_build")
    tuned = any(text.startswith(f"{configurations.NAME}: ") for text in record.verdict.missing)
    if tuned and record.device.kind != "cuda":
        return message("verdict.next_configuration")
    if shapes.emulated_by != "importer" or record.device.kind == "cuda" or not found:
        return None
    asked = next((sizes for one in found if (sizes := shape_of(one))), shapes.emulated[-1])
    typed = "--shape " + " ".join(f"{name}={size}" for name, size in asked.items())
    return message("verdict.next", claimed=shape(shapes.claimed), option=typed)


def hints(record: Record) -> tuple[str, ...]:
    """Return the probes with a hint at what the claim speaks of, beside a result that is right."""
    right = record.verdict.result is not None and record.verdict.result.state == "right"
    about = evidence.of_claim(record) if right else []
    found = (one for one in about if one.outcome == "fail" and one.grade == "hint" and one.device and one.claimed)
    return tuple(dict.fromkeys(one.probe for one in found))


def _is_hint(finding: Finding) -> bool:
    """Return whether a probe hints at a defect; the sizes have a row of their own, and the source alone says less."""
    probed = finding.device is not None and finding.probe != sizes.PROBE
    return finding.outcome == "fail" and finding.grade == "hint" and probed


def _piece(record: Record, finding: Finding) -> str:
    (result, sizes), device = tables.apart(finding), Recorded(device_name(record, finding) or "")
    where = _where(shape(sizes) if sizes else "", device)
    title = evidence.title(finding.probe)
    observed = Recorded(result.rstrip(".").removeprefix(f"{title.lower()}: "))
    about = {"question": title, "observed": observed}
    return message("verdict.piece_at", place=where, **about) if where else message("verdict.piece", **about)


def rating(record: Record) -> Section:
    """Return support and confidence on the scales of a review form."""
    facts: list[tuple[str, str]] = [(message("rating.support"), support(record))]
    level, reason = record.verdict.confidence, confidence(record)
    if level is not None and reason is not None:
        facts.append((message("rating.confidence"), message(f"rating.{level}", reason=reason)))
    scale = (message("rating.scale"),)
    return Section(message("rating.title"), "rating", paragraphs=scale, facts=tuple(facts), folded=True)


def support(record: Record) -> Message:
    """Return how far the evidence carries the claim."""
    return message(f"rating.{SUPPORT.get(record.verdict.name, 'none')}")


def answers(record: Record) -> tuple[tuple[str, str | None], ...]:
    """Return the three questions with their answers; none before the judge has answered them.

    A reason that quotes a finding is left to the evidence.
    """
    verdict = record.verdict
    result, task, ratio = verdict.result, verdict.task, verdict.ratio
    if result is None or task is None or ratio is None:
        return ()
    why_blind = message("answer.blind_task") if task.state in BLIND else None
    why = next((Recorded(reason) for reason in ratio.reasons if reason not in verdict.missing), None)
    quoted = why is not None and any(why.startswith(f"{one.probe}: ") for one in evidence.of_claim(record))
    why = None if quoted or verdict.name in OF_THE_RATIO else why
    return (
        (message("answer.result"), _answered(result, _in_every_order(record))),
        (message("answer.task"), _answered(task, why_blind)),
        (message("answer.ratio"), _answered(ratio, why)),
    )


def _in_every_order(record: Record) -> str | None:
    """Return that the values beside undefined behaviour are right in each of several orders of threads; else None."""
    undefined = record.verdict.result is not None and record.verdict.result.state == "undefined"
    passed = {one.probe: one for one in evidence.of_claim(record) if one.outcome == "pass"}
    orders = evidence.real(passed.get("agreement"), "orders")
    if not undefined or orders is None or orders < FEWEST_ORDERS:
        return None
    return message("answer.right_in_every_order", count=number(int(orders)))


def chosen_size(record: Record) -> str | None:
    """Return the sizes that the kit chose, where the result is answered there and the claim states others."""
    shapes, answer = record.claim.statement.shapes, record.verdict.result
    if shapes.emulated_by != "importer" or answer is None:
        return None
    asked = [one.shape for one in answer.places if one.shape and one.shape != shapes.claimed]
    if not asked:
        return None
    return message("verdict.chosen_by_the_kit", asked=shape(asked[0]), claimed=shape(shapes.claimed))


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
        (message("verdict.root_cause"), _cause(record)),
        (message("verdict.what_next"), next_step(record)),
        *answers(record),
        (message("verdict.chosen_size"), chosen_size(record)),
        (message("verdict.speed"), times.honest(record)),
        (message("probe.sweep"), sizes.told(record)),
        (message("verdict.not_tested"), joined("blank", provenance.not_tested(record))),
        (message("verdict.confidence"), confidence(record)),
        (message("verdict.before"), before and Recorded(before)),
    )
    return Card(
        name=Recorded(verdict.name),
        headline=message(f"headline.{'not its own' if borrowed else _headline(record)}"),
        tone=tone(verdict.name),
        facts=tuple((name, text) for name, text in facts if text),
        evidence=pieces(record),
        missing=missing(record),
        decided=verdict.name not in ("undecided", "incomplete"),
    )


def _headline(record: Record) -> str:
    """Return the key of the headline, which is another where one question alone fails the kernel, and none about values
    at the task's own inputs."""
    about = evidence.of_claim(record)
    failing = [one for one in about if one.fails_kernel]
    undefined = [one for one in about if one.grade == "undefined" and one.claimed]
    if record.verdict.name == "undefined" and undefined and all(map(evidence.by_order, undefined)):
        return "order"
    if not failing or not any(one.probe == "agreement" and one.outcome == "pass" for one in about):
        return record.verdict.name
    keys = {"access" if evidence.access(one) else HEADLINES.get(one.probe) for one in failing}
    return (keys.pop() if len(keys) == 1 else None) or record.verdict.name


def _cause(record: Record) -> str | None:
    """Return the root cause; where the judge names none, the line of the source that a failure agrees with."""
    result = record.verdict.root_cause
    return Recorded(result) if result else next(iter(cause.lines(record)), None)


def tone(name: VerdictName) -> Tone:
    """Return whether a verdict speaks for the claim, against it, or leaves it open."""
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
    where = _where(shapes, device)
    return message("answer.in_builds", place=where, count=number(builds)) if builds > 1 else where


def _where(shapes: str, device: str) -> str:
    return message("answer.shape_on_device", shape=shapes, device=device) if shapes and device else shapes or device
