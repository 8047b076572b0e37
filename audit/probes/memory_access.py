"""Does a kernel read what nobody wrote, touch what is not its own, or race with itself?

Every access is checked. Out of bounds is proved; never-initialised reads, races and misuse of barriers and lanes are
undefined behaviour, which may well give the right result.
"""

from __future__ import annotations

from typing import Any

from pydantic import JsonValue

from audit.errors import Unsupported
from audit.model import Finding, Grade
from audit.probes.answer import answer
from audit.probes.target import Target

NAME = "memory_access"
MECHANISMS = ("out-of-bounds access", "missing bounds", "race", "never-initialised read", "misuse of warp lanes")
PROVED = ("out-of-bounds-read", "out-of-bounds-write", "illegal-address")
NOT_ACCESSES = ("launch-refused", "static-shared-too-large")


def run(target: Target) -> Finding:
    """One checked call at the middle case."""
    if not target.built.checks_accesses:
        raise Unsupported("checks of every memory access")
    case = target.middle
    (call,) = target.session(["claim"], cases=[case], check=True)
    reports = target.built.located([report for report in call.reports if report["kind"] not in NOT_ACCESSES])
    evidence: dict[str, JsonValue] = {
        "shape": dict(case.shape),
        "reports": [{key: report[key] for key in ("kind", "message", "line", "kernel", "count")} for report in reports],
        "most_writes": call.event.get("most_writes"),
    }
    if not reports:
        return answer(NAME, target, "pass", f"{case.label}: no undefined access", evidence=evidence)
    worst = min(reports, key=lambda report: report["kind"] not in PROVED)
    grade: Grade = "proved" if worst["kind"] in PROVED else "undefined"
    text = f"{case.label}: {_sentence(worst)}"
    return answer(NAME, target, "fail", text, grade=grade, evidence=evidence, line=worst["line"])


def _sentence(report: dict[str, Any]) -> str:
    place = f" in line {report['line']}" if report["line"] else ""
    return f"{report['kind']}{place} of {report['kernel']} ({report['count']:,} times): {report['message']}"
