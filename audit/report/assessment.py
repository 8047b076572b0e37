"""Strengths, weaknesses and questions to the authors, each from findings about the claim."""

from __future__ import annotations

from collections.abc import Callable

from audit.judge.answers import FLOOR
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.messages import Recorded, joined, message, wordings
from audit.report.quantities import anything, count_of, milliseconds, number, ratio, sentence, shape
from audit.report.view import Code, Point, Section

GRADES = ("proved", "undefined", "hint")
"""From the gravest on."""
SAME_QUESTION = {
    "claimed_blocks": "agreement",
    "distributions": "agreement",
    "late_writes": "current_stream",
    "sweep": "agreement",
}


def strengths(record: Record) -> Section:
    """Return the passed probes of the claimed kernel, the published parts of the claim, and repairs that work."""
    passed = [finding for finding in evidence.of_claim(record) if finding.outcome == "pass"]
    bullets = (
        *(message("form.question_answer", question=evidence.title(one.probe), answer=sentence(one.summary))
          for one in passed),
        *_published(record),
        *_repairs(record),
    )  # fmt: skip
    paragraphs = () if bullets else (message("strengths.none"),)
    return Section(message("strengths.title"), "strengths", paragraphs=paragraphs, bullets=bullets)


def weaknesses(record: Record) -> Section:
    """Return the failures of the claimed kernel and of the published times, gravest first."""
    points = tuple(_point(one) for one in _failures(record))
    introduction = message("weaknesses.introduction" if points else "weaknesses.none")
    return Section(message("weaknesses.title"), "weaknesses", paragraphs=(introduction,), points=points)


def questions(record: Record) -> Section:
    """Return a question for each failure the claim is about, then for what its numbers and its source leave open.

    A time that others measured raises no question to the authors.
    """
    failed = [one for one in _failures(record) if one.claimed]
    failed = [one for one in failed if one.probe != FLOOR or one.target in _own_times(record)]
    bullets = tuple(dict.fromkeys([*map(_question, failed), *_about_times(record), *_about_source(record)]))
    paragraphs = () if bullets else (message("questions.none"),)
    return Section(message("questions.title"), "questions", paragraphs=paragraphs, bullets=bullets)


def _failures(record: Record) -> list[Finding]:
    failed = [one for one in evidence.of_claim(record) if one.outcome == "fail"]
    return [one for grade in GRADES for one in failed if one.grade == grade]


def _published(record: Record) -> list[str]:
    claim = record.claim.statement
    texts: list[str] = []
    if claim.protocol.steps:
        texts.append(message("strengths.protocol", count=str(len(claim.protocol.steps))))
    if claim.protocol.flags:
        texts.append(message("strengths.flags"))
    if claim.source.fidelity == "verbatim":
        texts.append(message("strengths.source"))
    return texts


def _repairs(record: Record) -> list[str]:
    passing = [rung for rung in record.ladder if rung.state == "passed"]
    names = [rung.variant for rung in passing if rung.role in ("ablation", "repair")]
    if not names or evidence.claimed_name(record) in {rung.variant for rung in passing}:
        return []
    return [message("strengths.repairs", variants=joined("comma", names))]


def _point(finding: Finding) -> Point:
    grade = message(f"grade.{finding.grade}")
    again = finding.reproduce_with
    return Point(
        title=message("form.question_target", question=evidence.title(finding.probe), target=finding.target),
        badge=grade if finding.claimed else message("grade.not_claimed", grade=grade),
        text=sentence(finding.summary),
        facts=evidence.facts(finding),
        reproduce_with=Code(again) if again and again.startswith("audit run ") else again and Recorded(again),
    )


def _question(finding: Finding) -> str:
    special = SPECIAL.get(finding.probe)
    text = special(finding) if special else None
    if text:
        return text
    key = f"question.{SAME_QUESTION.get(finding.probe, finding.probe)}"
    return message(key if key in wordings() else "questions.other", summary=Recorded(finding.summary))


def _coverage(finding: Finding) -> str | None:
    rows, written = evidence.real(finding, "rows"), evidence.real(finding, "rows_written")
    if rows is None or written is None or rows == written:
        return None
    text = count_of(written, rows, form="questions.coverage")
    sizes = evidence.size(finding)
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
    "contract": _contract,
    "coverage": _coverage,
    "floor": _floor,
    "launch_geometry": _geometry,
}
"""Questions with numbers of the evidence; every other one is worded under `question.<probe>`."""


def _about_times(record: Record) -> list[str]:
    claim = record.claim.statement
    bare = [one for one in claim.speedup if claim.stated_by_authors(one) and one.gpu not in _own_times(record)]
    if not bare:
        return []
    ratios = [message("form.ratio_on_gpu", ratio=ratio(one.ratio, about=one.about), gpu=one.gpu) for one in bare]
    return [message("questions.times", ratios=joined("comma", ratios))]


def _own_times(record: Record) -> set[str]:
    """Return the GPUs for which the authors themselves state times."""
    claim = record.claim.statement
    return {one.gpu for one in claim.observation if claim.stated_by_authors(one)}


def _about_source(record: Record) -> list[str]:
    return [] if record.claim.statement.source.fidelity == "verbatim" else [message("questions.source")]
