"""Strengths, weaknesses and questions to the authors, chosen for the reader from findings about the claim."""

from __future__ import annotations

from collections.abc import Callable

from audit.judge.answers import FLOOR
from audit.judge.causes import causes, led, read_in_source, shape_of
from audit.judge.evidence import CORRECTNESS
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.messages import Recorded, joined, message, wordings
from audit.report.quantities import anything, count_of, milliseconds, number, ratio, sentence, shape
from audit.report.view import Section

MOST = 6
"""Points of a list; the table of what was checked has every answer."""
GRADES = ("proved", "undefined", "hint")
"""From the gravest on."""
WORTH_SAYING = (*CORRECTNESS, "distributions", "precision", "kernels_ran", "dead_inputs", "late_writes", "builds_agree",
                "untouched_process")  # fmt: skip
"""Probes whose pass says something to a reader, the most telling first."""
SAME_QUESTION = {
    "claimed_blocks": "agreement",
    "distributions": "agreement",
    "late_writes": "current_stream",
    "sweep": "agreement",
}


def strengths(record: Record) -> Section:
    """Return what is published of the claim, repairs that work, and the most telling probes that passed."""
    passed = {one.probe: one for one in evidence.of_claim(record) if one.outcome == "pass"}
    found = [passed[name] for name in WORTH_SAYING if name in passed and name != "contract"]
    answers = (message("form.question_answer", question=evidence.title(one.probe), answer=sentence(one.summary))
               for one in found)  # fmt: skip
    bullets = (*_repairs(record), *_published(record), *answers)[:MOST]
    paragraphs = () if bullets else (message("strengths.none"),)
    return Section(message("strengths.title"), "strengths", paragraphs=paragraphs, bullets=bullets)


def weaknesses(record: Record) -> Section:
    """Return the failures of the claimed kernel and of the authors' own times, one point a cause, gravest first.

    A hint that a failure agrees with stands under the cause.
    """
    known = {id(hint) for hint, _ in read_in_source(record)}
    found = [one for one in _failures(record) if id(one) not in known]
    grave = [one for one in found if evidence.against_claim(record, one) and one.grade != "hint"]
    others = [one for one in found if one not in grave and one.probe != FLOOR]
    groups = [*causes(grave), *([one] for one in others)]
    bullets = tuple(_point(members) for members in groups[:MOST])
    introduction = message("weaknesses.introduction" if bullets else "weaknesses.none")
    return Section(message("weaknesses.title"), "weaknesses", paragraphs=(introduction,), bullets=bullets)


def questions(record: Record) -> Section:
    """Return a question for each cause of a failure, then for what the numbers and the source of the claim leave open.

    A number that others state raises no question to the authors.
    """
    failed = [one for one in _failures(record) if evidence.against_claim(record, one)]
    grave = [one for one in failed if one.grade != "hint"]
    leading = [min(members, key=_least_said) for members in causes(grave)]
    known = {id(hint) for hint, _ in read_in_source(record)}
    hints = [
        one for one in failed if one.grade == "hint" and not one.probe.startswith("review.") and id(one) not in known
    ]
    asked = [*map(_question, (*leading, *hints)), *_about_times(record), *_about_source(record)]
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
    if claim.protocol.steps:
        flags = "strengths.protocol_and_flags" if claim.protocol.flags else "strengths.protocol"
        texts.append(message(flags, count=str(len(claim.protocol.steps))))
    return texts


def _repairs(record: Record) -> list[str]:
    passed = [rung for rung in record.ladder if rung.state == "passed"]
    names = [rung.variant for rung in passed if rung.role in ("ablation", "repair")]
    if not names or record.claimed_name in {rung.variant for rung in passed}:
        return []
    return [message("strengths.repairs", count=number(len(names)), variants=joined("comma", names[:MOST]))]


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


def _least_said(finding: Finding) -> int:
    """Return the place of a question among those with numbers of the evidence, which come first."""
    return [*SPECIAL, finding.probe].index(finding.probe)


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
    bare = [one for one in claim.speedup if claim.stated_by_authors(one) and one.gpu not in own]
    if not bare:
        return []
    ratios = [message("form.ratio_on_gpu", ratio=ratio(one.ratio, about=one.about), gpu=one.gpu) for one in bare]
    return [message("questions.times", ratios=joined("comma", ratios))]


def _about_source(record: Record) -> list[str]:
    return [] if record.claim.statement.source.fidelity == "verbatim" else [message("questions.source")]
