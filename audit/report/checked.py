"""What was checked and how it came out: one row a question about the claimed kernel, its task and its times."""

from __future__ import annotations

from itertools import groupby

from audit.judge.causes import labelled, shape_of
from audit.judge.evidence import deciding
from audit.model import Finding, Record, Shape
from audit.report import evidence
from audit.report.messages import Message, Recorded, headings, joined, message
from audit.report.view import Section, Table

HINTS = "hints"
"""The key of the evidence that a hint of the source review has."""
RESULTS = ("proved", "undefined", "hint", "pass", "open")
"""The results of a question, in the order of the table."""


def section(record: Record) -> Section:
    """Return the questions with an answer, gravest first, then those without one by the reason for that."""
    asked = sorted(_deciding(record), key=lambda one: _grave(record, one))
    rows = [_row(record, one) for one in asked if _result(one) != "open"]
    left = sorted((one for one in asked if _result(one) == "open"), key=_why)
    rows += [_unanswered(why, list(found)) for why, found in groupby(left, _why)]
    device = record.device
    caption = (
        message("checked.table_gpu", device=Recorded(device.name))
        if device.kind == "cuda"
        else message("checked.table")
    )
    table = Table(caption, headings("question", "outcome", "observed", "device"), tuple(rows))
    paragraphs = () if rows else (message("checked.none"),)
    return Section(message("checked.title"), "checked", paragraphs=paragraphs, tables=(table,) if rows else ())


def _kinds(record: Record, finding: Finding) -> str:
    """Return the kinds of device on which a question came out so; empty where nothing had to run."""
    alike = [one for one in record.findings if (one.probe, one.target, one.outcome, one.grade)
             == (finding.probe, finding.target, finding.outcome, finding.grade)]  # fmt: skip
    kinds = dict.fromkeys(one.device for one in (finding, *alike) if one.device)
    return joined("comma", (message(f"device.{kind}") for kind in kinds))


def apart(finding: Finding) -> tuple[str, Shape | None]:
    """Return the sentence of a finding without the shape that it begins with, and the shape that it speaks of."""
    sizes, left = labelled(finding.summary)
    return (left.removeprefix(": "), sizes) if sizes else (left, shape_of(finding))


def _deciding(record: Record) -> list[Finding]:
    """Return the last deciding answer to each question about the claimed kernel, the task and the published times.

    Hints of the source review stand under the cause and the weaknesses, and a bare ratio asks nothing of a floor.
    """
    task = deciding(one for one in record.findings if one.probe == "task")
    about = [*evidence.of_claim(record), *task]
    shown = [one for one in about if HINTS not in one.evidence and (one.probe, one.outcome) != ("floor", "skip")]
    return list({(one.probe, one.target, _result(one)): one for one in shown}.values())


def _grave(record: Record, finding: Finding) -> tuple[bool, int]:
    """Return the place of an answer in the table: failures of the claim come first."""
    result = _result(finding)
    aside = result in ("proved", "undefined") and not evidence.against_claim(record, finding)
    return aside or RESULTS.index(result) > 1, RESULTS.index(result)


def _result(finding: Finding) -> str:
    return finding.grade or ("pass" if finding.outcome == "pass" else "open")


def _row(record: Record, finding: Finding) -> tuple[str, ...]:
    title: str = evidence.title(finding.probe)
    if finding.probe == "floor":
        title = message("form.question_target", question=title, target=finding.target)
    return title, result_of(record, finding), Recorded(finding.summary), _kinds(record, finding)


def result_of(record: Record, finding: Finding) -> Message:
    """Return "passed", "failed" or "hint"; a failure outside the claim, or at a time of others, says so."""
    result = message(f"outcome.{_result(finding)}")
    if finding.outcome != "fail" or evidence.against_claim(record, finding):
        return result
    return message("outcome.of_others" if finding.probe == "floor" else "outcome.not_claimed", outcome=result)


def _why(finding: Finding) -> str:
    """Return why there is no answer, without the shape that stands inside the sentence."""
    first, _, left = finding.summary.partition(": ")
    sizes, left = labelled(left)
    return f"{first}{left}" if sizes else finding.summary


def _unanswered(why: str, found: list[Finding]) -> tuple[str, ...]:
    titles = joined("comma", (evidence.title(one.probe) for one in found))
    return titles, message("answer.none"), Recorded(why), ""
