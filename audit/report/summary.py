"""The one summary table: every variant, in both orders, with coverage, state and time."""

from __future__ import annotations

from audit.model import Finding, Record, Rung
from audit.report.evidence import find, real
from audit.report.quantities import milliseconds, number
from audit.report.view import Code, Section, Table

COLUMNS = (
    "Variant",
    "Role",
    "Technique",
    "Precision",
    "Claim first",
    "Reference first",
    "Coverage",
    "State",
    "Time",
)
NO_ANSWER = "no answer"


def section(record: Record) -> Section:
    """The summary table."""
    return Section("Summary", "summary", tables=(table(record),))


def table(record: Record) -> Table:
    """One row a variant, in the order of the claim; before the judge has spoken the state is "not judged"."""
    rungs = {rung.variant: rung for rung in record.ladder}
    rows = []
    for variant in record.claim.statement.variant:
        head = (Code(variant.name), variant.role, variant.technique, variant.precision)
        rows.append(
            (*head, *_orders(record, variant.name), coverage(record, variant.name), *_place(rungs.get(variant.name)))
        )
    return Table("Every variant audited; orders say which of claim and reference ran first in the process", COLUMNS,
                 tuple(rows), frozenset({8}))  # fmt: skip


def coverage(record: Record, variant: str) -> str:
    """How much of the output is written, in rows where whole rows are missing."""
    found = find(record, "coverage", variant)
    rows, written_rows = real(found, "rows"), real(found, "rows_written")
    elements, written = real(found, "elements"), real(found, "elements_written")
    if elements is None or written is None:
        return _unanswered(found)
    if written == elements:
        return f"all {number(elements)} elements"
    if rows is not None and written_rows is not None and written_rows < rows:
        return f"{number(written_rows)} of {number(rows)} rows"
    return f"{number(written)} of {number(elements)} elements"


def _orders(record: Record, variant: str) -> tuple[str, str]:
    found = find(record, "order", variant)
    late = _side(found, "reference_first")
    return _side(found, "claim_first"), with_difference(record, variant, late)


def with_difference(record: Record, variant: str, answer: str) -> str:
    """The answer of reference first; where the order fails, whether it equals the reference's result bit for bit.

    A variant that is right in both orders may equal it too, by summing in the same order: that tells nothing.
    """
    found = find(record, "order", variant)
    side = found.evidence.get("reference_first") if found and found.outcome == "fail" else None
    same = isinstance(side, dict) and side.get("difference_zero") is True
    return f"{answer}, difference exactly 0" if same and answer == "right" else answer


def _side(found: Finding | None, key: str) -> str:
    side = found.evidence.get(key) if found else None
    if not isinstance(side, dict) or not isinstance(side.get("right"), bool):
        return _unanswered(found)
    return "right" if side["right"] else "wrong"


def _place(rung: Rung | None) -> tuple[str, str]:
    return (rung.state if rung else "not judged"), milliseconds(rung.median_ms if rung else None)


def _unanswered(found: Finding | None) -> str:
    return NO_ANSWER if found is None or found.outcome in ("pass", "fail") else f"{NO_ANSWER} ({found.outcome})"
