"""What speaks against the claim: failures with grade, numbers and how to see them again. Hints are kept apart."""

from __future__ import annotations

from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import sentence
from audit.report.said import Told, say
from audit.report.view import Code, Point, Section

GRADES = {
    "proved": say("proved"),
    "undefined": say("undefined behaviour that happened to work or depends on the device"),
    "hint": say("hint that convicts nobody"),
}
INTRODUCTION = say("Each point is what was observed and how to see it again; ordinary error is assumed throughout.")
NONE = say("No weakness was observed, in the kernel or in the published times, by the questions that have an answer.")


def section(record: Record) -> Section:
    """Failures of the claimed kernel and of the published times, gravest first."""
    failed = [one for one in evidence.of_claim(record) if one.outcome == "fail"]
    points = tuple(_point(finding) for grade in GRADES for finding in failed if finding.grade == grade)
    return Section(say("Weaknesses"), "weaknesses", paragraphs=(INTRODUCTION if points else NONE,), points=points)


def _point(finding: Finding) -> Point:
    badge = GRADES[finding.grade or "hint"]
    return Point(
        title=say("{question} ({target})", question=evidence.title(finding.probe), target=finding.target),
        badge=badge if finding.claimed else say("{grade}; the claim does not speak of it", grade=badge),
        text=sentence(finding.summary),
        facts=evidence.facts(finding),
        see_again=_see_again(finding),
    )


def _see_again(finding: Finding) -> str | None:
    told = finding.see_again
    return Code(told) if told and told.startswith("audit run ") else told and Told(told)
