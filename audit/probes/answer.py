"""How a probe words its finding."""

from __future__ import annotations

from typing import TypedDict, Unpack

from pydantic import JsonValue

from audit.model import Finding, Grade, Outcome, Shape
from audit.probes.called import Case
from audit.probes.target import Target


class Details(TypedDict, total=False):
    """What a finding may add to its summary."""

    grade: Grade
    evidence: dict[str, JsonValue]
    line: int | None
    shape: Shape
    anywhere: bool


def answer(probe: str, target: Target, outcome: Outcome, summary: str, **details: Unpack[Details]) -> Finding:
    """A finding of that probe about that target; a failure counts as proved unless `grade` says otherwise.

    The shape of a failure is that of its evidence unless `shape` names it; where the claim does not speak of that
    shape, the finding says so and is none against the claim, unless `anywhere` says that the failure has nothing to do
    with sizes.
    """
    failed, evidence = outcome == "fail", details.get("evidence", {})
    shape = details.get("shape", evidence.get("shape")) if failed else None
    case = _case(target, shape)
    claimed = case is None or case.counts or details.get("anywhere", False)
    return Finding(
        probe=probe,
        target=target.variant.name,
        outcome=outcome,
        summary=summary if claimed else _not_claimed(target, summary),
        grade=details.get("grade", "proved") if failed else None,
        evidence=evidence,
        line=details.get("line"),
        shape=case.shape if case else details.get("shape") if failed else None,
        claimed=claimed,
    )


def _case(target: Target, shape: object) -> Case | None:
    return next((case for case in target.cases if dict(case.shape) == shape), None)


def _not_claimed(target: Target, summary: str) -> str:
    if any(case.counts for case in target.cases):
        return f"right at the claimed shapes as far as asked; wrong at {summary}; that shape is not claimed"
    return f"{summary}; the claim does not speak of this shape, and none that it speaks of was asked"
