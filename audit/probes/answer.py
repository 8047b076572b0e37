"""How a probe words its finding."""

from __future__ import annotations

from typing import TypedDict, Unpack

from pydantic import JsonValue

from audit.model import Finding, Grade, Outcome
from audit.probes.target import Target


class Details(TypedDict, total=False):
    """What a finding may add to its summary."""

    grade: Grade
    evidence: dict[str, JsonValue]
    line: int | None


def answer(probe: str, target: Target, outcome: Outcome, summary: str, **details: Unpack[Details]) -> Finding:
    """A finding of that probe about that target; a failure counts as proved unless `grade` says otherwise."""
    return Finding(
        probe=probe,
        target=target.variant.name,
        outcome=outcome,
        summary=summary,
        grade=details.get("grade", "proved") if outcome == "fail" else None,
        evidence=details.get("evidence", {}),
        line=details.get("line"),
    )
