"""The answers about HEAD as JUnit XML: one test case a probe, and one for HEAD against BASE."""

from __future__ import annotations

from itertools import groupby
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from audit.apps.pr.against import SLOWER, Against
from audit.model import Finding, Record, sanitizer
from audit.report import evidence
from audit.report.evidence import against_claim

AGAINST = "against_base"
MARKS = ("failure", "error", "skipped")
ORDER = ("failure", "error", "", "skipped")
"""What a probe's test case shows where several of its findings differ: the first of these."""


def text(record: Record, versus: Against) -> str:
    """Return the whole document."""
    name = record.claim.statement.name
    suite = Element("testsuite", name=f"audit pr {name}", timestamp=record.environment.started_utc)
    about = sorted(evidence.of_claim(record), key=lambda one: one.probe)
    for probe, group in groupby(about, lambda one: one.probe):
        found = sorted(group, key=lambda one: ORDER.index(_mark(record, one)))
        case = _case(suite, probe, _mark(record, found[0]), found[0].summary, kind=found[0].grade or "")
        case.set("time", f"{sum(one.seconds or 0.0 for one in found):.3f}")
    mark = {SLOWER: "failure", "not measured": "skipped", "inconclusive": "skipped"}.get(versus.state, "")
    _case(suite, AGAINST, mark, versus.sentence, kind=versus.state).set("time", "0.000")
    counts = {one: len(suite.findall(f"testcase/{one}")) for one in MARKS}
    suite.attrib |= {"tests": str(len(suite)), "failures": str(counts["failure"]), "errors": str(counts["error"]),
                     "skipped": str(counts["skipped"])}  # fmt: skip
    root = Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _mark(record: Record, finding: Finding) -> str:
    """Return the element of a test case: none for a pass, a hint, and a failure that does not speak against HEAD."""
    if finding.outcome == "fail":
        return "failure" if finding.grade != "hint" and against_claim(record, finding) else ""
    return {"error": "error", "skip": "skipped"}.get(finding.outcome, "")


def _case(suite: Element, name: str, mark: str, said: str, *, kind: str) -> Element:
    case = SubElement(suite, "testcase", classname=suite.get("name", ""), name=name)
    message = sanitizer.line(said)
    if mark:
        SubElement(case, mark, {"message": message, **({"type": kind} if mark == "failure" else {})})
    else:
        SubElement(case, "system-out").text = message
    return case
