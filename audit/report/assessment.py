"""Strengths, weaknesses and questions to the authors, chosen for the reader from findings about the claim."""

from __future__ import annotations

import math
from collections.abc import Callable

from audit.claims.importers.writer import NOT_STATED
from audit.judge.answers import BASELINE, FLOOR
from audit.judge.causes import causes, led, shape_of, sizes_of
from audit.judge.evidence import objects
from audit.judge.root_causes import read_in_source
from audit.measure import compared
from audit.model import Finding, Record
from audit.probes.concluding.behaviour import BEHAVIOUR
from audit.report import evidence, waterfall
from audit.report.messages import (
    Recorded,
    anything,
    count_of,
    joined,
    message,
    milliseconds,
    number,
    ratio,
    sentence,
    shape,
    with_interval,
    wordings,
)
from audit.report.tables import in_rows
from audit.report.view import Section

MOST, MOST_NAMED = 6, 3
"""Points of a list; the table of what was checked has every answer."""
GRADES = ("proved", "undefined", "hint")
"""From the gravest on."""
HOLDS_FOR = {
    "distributions": "strengths.for_distributions",
    "layout": "strengths.for_layout",
    "nonfinite": "strengths.for_nonfinite",
    "sweep": "strengths.for_sweep",
}
"""Probes that ask beyond the task's own inputs, each with the words for what it asks."""
SHORT_OF_IT = ("not reached", "weak baseline")
MOST_HINTS = 4
SAME_QUESTION = {
    "claimed_blocks": "agreement",
    "distributions": "agreement",
    "late_writes": "current_stream",
    "sweep": "agreement",
}


def strengths(record: Record) -> Section:
    """Return what holds of the claim: what is published, for what the result is right, the speed, and repairs."""
    bullets = (*_published(record), *_right(record), *_fast(record), *_sound(record), *_repairs(record))[:MOST]
    paragraphs = () if bullets else (message("strengths.none"),)
    return Section(message("strengths.title"), "strengths", paragraphs=paragraphs, bullets=bullets)


def weaknesses(record: Record) -> Section:
    """Return the failures of the claimed kernel, its ratio and the authors' own times, one point a cause, gravest
    first; what the source alone suggests is one point.

    A hint that a failure agrees with stands under the cause.
    """
    known = {id(hint) for hint, *_ in read_in_source(record)}
    found = [one for one in _failures(record) if id(one) not in known]
    grave = [one for one in found if evidence.against_claim(record, one) and one.grade != "hint"]
    others = [one for one in found if one not in grave and one.probe != FLOOR and not _of_source(one)]
    bullets = (
        *map(_point, causes(grave)),
        *_ratio(record),
        *(_point([one]) for one in others),
        *_suggested([one for one in found if _of_source(one)]),
    )[:MOST]
    introduction = message("weaknesses.introduction" if bullets else "weaknesses.none")
    return Section(message("weaknesses.title"), "weaknesses", paragraphs=(introduction,), bullets=bullets)


def questions(record: Record) -> Section:
    """Return a question for each cause of a failure, then for what the numbers and the source of the claim leave open.

    A number that others state raises no question to the authors.
    """
    failed = [one for one in _failures(record) if evidence.against_claim(record, one)]
    grave = [one for one in failed if one.grade != "hint"]
    leading = [min(members, key=lambda one: [*SPECIAL, one.probe].index(one.probe)) for members in causes(grave)]
    known = {id(hint) for hint, *_ in read_in_source(record)}
    hints = [
        one for one in failed if one.grade == "hint" and not one.probe.startswith("review.") and id(one) not in known
    ]
    asked = [*map(_question, (*leading, *hints)), *_about_times(record)]
    asked += [message("questions.source")] if record.claim.statement.source.fidelity == "reconstruction" else []
    bullets = tuple(dict.fromkeys(asked))[:MOST]
    paragraphs = () if bullets else (message("questions.none"),)
    return Section(message("questions.title"), "questions", paragraphs=paragraphs, bullets=bullets)


def _failures(record: Record) -> list[Finding]:
    failed = [one for one in evidence.of_claim(record) if one.outcome == "fail"]
    return [one for grade in GRADES for one in failed if one.grade == grade]


def _published(record: Record) -> list[str]:
    claim = record.claim.statement
    texts: list[str] = []
    if claim.source.fidelity == "verbatim":
        texts.append(message("strengths.source"))
    if {*claim.protocol.steps} - {NOT_STATED}:
        flags = "strengths.protocol_and_flags" if claim.protocol.flags else "strengths.protocol"
        texts.append(message(flags, count=str(len(claim.protocol.steps))))
    return texts


def _right(record: Record) -> list[str]:
    """Return for what the result is right; nothing where the task takes trivial candidates for right too."""
    passed = _passed(record)
    entries = objects(passed["agreement"].evidence.get("shapes")) if "agreement" in passed else []
    asked = [sizes for one in entries if (sizes := sizes_of(one.get("shape")))]
    if not asked or _blind(record):
        return []
    shapes = {shape(one): math.prod(one.values()) for one in asked}
    alone = {"order", "coverage", "inherited"} <= {*passed}
    about = {"count": number(len(shapes)), "shape": max(shapes, key=shapes.__getitem__)}
    holds = [_holds(key, passed[probe]) for probe, key in HOLDS_FOR.items() if probe in passed]
    return [
        message("strengths.right_alone" if alone else "strengths.right", **about),
        *([message("strengths.holds", what=joined("comma", holds))] if holds else []),
    ]


def _holds(key: str, finding: Finding) -> str:
    """Return what a probe asked beyond the task's own inputs; of sizes, around which."""
    around = sizes_of(finding.evidence.get("around"))
    return message(key, **({"shape": shape(around)} if around else {}))


def _fast(record: Record) -> list[str]:
    """Return how much faster than eager the claimed kernel is, where it is right and the interval says so."""
    name = record.claimed_name
    if name is None or name != waterfall.defended(record) or _blind(record):
        return []
    found = compared(record.measurements, name, BASELINE)
    if found is None or found.word != "faster":
        return []
    times = with_interval(ratio(found.ratio.value), found.ratio.low, found.ratio.high)
    return [message("strengths.fast", ratio=times, device=record.device.name)]


def _sound(record: Record) -> list[str]:
    """Return that the source's own kernels do the work, and leave memory alone."""
    passed = _passed(record)
    own = "kernels_ran" in passed
    intact = {"memory_access", "inputs_intact"} <= {*passed} and not any(map(_undefined, evidence.of_claim(record)))
    return [message(key) for key, holds in (("strengths.own_kernels", own), ("strengths.memory", intact)) if holds]


def _undefined(finding: Finding) -> bool:
    """Return whether a failure of any probe shows an undefined access; that of sizes names it in its summary."""
    named = any(f"{kind}: " in finding.summary for kind in BEHAVIOUR)
    return finding.outcome == "fail" and (finding.grade == "undefined" or named or evidence.access(finding) is not None)


def _repairs(record: Record) -> list[str]:
    passed = [rung for rung in record.ladder if rung.state == "passed"]
    names = [rung.variant for rung in passed if rung.role in ("ablation", "repair")]
    if not names or record.claimed_name in {rung.variant for rung in passed}:
        return []
    return [message("strengths.repairs", count=number(len(names)), variants=joined("comma", names[:MOST_NAMED]))]


def _passed(record: Record) -> dict[str, Finding]:
    return {one.probe: one for one in evidence.of_claim(record) if one.outcome == "pass"}


def _blind(record: Record) -> bool:
    """Return whether a right result at the task's own inputs says little."""
    return record.verdict.task is not None and record.verdict.task.state in ("cannot tell", "only at other inputs")


def _ratio(record: Record) -> list[str]:
    """Return that the published ratio was not reached, or against a weak baseline alone."""
    answer = record.verdict.ratio
    if answer is None or answer.state not in SHORT_OF_IT or not answer.reasons:
        return []
    return [message("weaknesses.ratio", reason=sentence(answer.reasons[0]))]


def _of_source(finding: Finding) -> bool:
    return finding.probe.startswith("review.") and finding.grade == "hint"


def _suggested(hints: list[Finding]) -> list[str]:
    """Return the hints of the source review as one point."""
    shown = [Recorded(one.summary) if one.line is None
             else message("weaknesses.on_line", line=number(one.line), text=Recorded(one.summary))
             for one in hints[:MOST_HINTS]]  # fmt: skip
    if not shown:
        return []
    entries: str = joined("semicolon", shown)
    if len(hints) > MOST_HINTS:
        entries = message("form.entries_and_more", entries=entries, count=number(len(hints) - MOST_HINTS))
    return [message("weaknesses.source", hints=entries)]


def _point(members: list[Finding]) -> str:
    leading, others = led(members)
    result = message(f"grade.{leading.grade}")
    result = result if leading.claimed else message("grade.not_claimed", grade=result)
    title = evidence.title(leading.probe)
    if leading.line is not None:
        title = message("form.question_line", question=title, line=number(leading.line))
    text = message("form.question_answer", question=title, answer=sentence(leading.summary))
    if others:
        text = message("weaknesses.seen_too", text=text, others=joined("comma", map(evidence.title, others)))
    return message("weaknesses.point", grade=result, text=text)


def _question(finding: Finding) -> str:
    special = SPECIAL.get(finding.probe)
    text = special(finding) if special else None
    if text:
        return text
    key = f"question.{SAME_QUESTION.get(finding.probe, finding.probe)}"
    return message(key if key in wordings() else "questions.other", summary=Recorded(finding.summary))


def _coverage(finding: Finding) -> str | None:
    rows = in_rows(finding)
    if rows is None:
        return None
    text = count_of(*rows, form="questions.coverage")
    sizes = shape_of(finding)
    return message("questions.coverage_at", shape=shape(sizes), question=text) if sizes else text


def _contract(finding: Finding) -> str:
    expected, got = (anything(finding.evidence.get(key)) for key in ("expected", "got"))
    return message("questions.contract", expected=expected, got=got)


def _geometry(finding: Finding) -> str | None:
    if finding.line is None:
        return None
    return message("questions.launch_line", line=number(finding.line), summary=Recorded(finding.summary))


def _floor(finding: Finding) -> str:
    reported, floor = (milliseconds(evidence.real(finding, key)) for key in ("reported_kernel_ms", "floor_ms"))
    return message("questions.floor", reported=reported, gpu=finding.target, floor=floor)


SPECIAL: dict[str, Callable[[Finding], str | None]] = {
    "coverage": _coverage,
    "contract": _contract,
    "floor": _floor,
    "launch_geometry": _geometry,
}
"""Questions with numbers of the evidence; every other one is worded under `question.<probe>`."""


def _about_times(record: Record) -> list[str]:
    claim = record.claim.statement
    own = {one.gpu for one in claim.observation if claim.stated_by_authors(one)}
    bare = [one for one in claim.ratios if claim.stated_by_authors(one) and one.gpu not in own]
    if not bare:
        return []
    ratios = [message("form.ratio_on_gpu", ratio=ratio(one.ratio, about=one.about), gpu=one.gpu) for one in bare]
    return [message("questions.times", ratios=joined("comma", ratios))]
