"""The one summary table: every variant, in both orders, with coverage, state and time."""

from __future__ import annotations

from collections import Counter

from audit.model import Finding, Record, Rung
from audit.report.evidence import find, real
from audit.report.quantities import milliseconds, number
from audit.report.said import Told, listed, say
from audit.report.view import Code, Section, Table

COLUMNS = (
    say("Variant"),
    say("Role"),
    say("Technique"),
    say("Precision"),
    say("Claim first"),
    say("Reference first"),
    say("Coverage"),
    say("State"),
    say("Time"),
)
NO_ANSWER = say("no answer")


def section(record: Record) -> Section:
    """The summary table."""
    return Section(say("Summary"), "summary", paragraphs=(_counts(record),), tables=(table(record),))


def _counts(record: Record) -> str:
    """How many variants came out how, without the outcomes that none had."""
    states = Counter(rung.state for rung in record.ladder)
    told = listed(
        ", ", (say("{count} {state}", count=str(count), state=Told(state)) for state, count in states.items())
    )
    if not states:
        return say(
            "No variant has been judged yet; {answers} answers were recorded.", answers=f"{len(record.findings):,}"
        )
    text = "Variants audited: {count} ({states}). Answers recorded: {answers}."
    return say(text, count=str(len(record.ladder)), states=told, answers=f"{len(record.findings):,}")


def table(record: Record) -> Table:
    """One row a variant, in the order of the claim; before the judge has spoken the state is "not judged"."""
    rungs = {rung.variant: rung for rung in record.ladder}
    rows = []
    for variant in record.claim.statement.variant:
        head = (Code(variant.name), Told(variant.role), Told(variant.technique), variant.precision)
        rows.append(
            (*head, *_orders(record, variant.name), coverage(record, variant.name), *_place(rungs.get(variant.name)))
        )
    caption = say("Every variant audited; orders say which of claim and reference ran first in the process")
    return Table(caption, COLUMNS, tuple(rows), frozenset({8}))


def coverage(record: Record, variant: str) -> str:
    """How much of the output is written, in rows where whole rows are missing."""
    found = find(record, "coverage", variant)
    rows, written_rows = real(found, "rows"), real(found, "rows_written")
    elements, written = real(found, "elements"), real(found, "elements_written")
    if elements is None or written is None:
        return _unanswered(found)
    if written == elements:
        return say("all {count} elements", count=number(elements))
    if rows is not None and written_rows is not None and written_rows < rows:
        return say("{count} of {all} rows", count=number(written_rows), all=number(rows))
    return say("{count} of {all} elements", count=number(written), all=number(elements))


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
    return say("{answer}, difference exactly 0", answer=answer) if same and answer == "right" else answer


def _side(found: Finding | None, key: str) -> str:
    side = found.evidence.get(key) if found else None
    if not isinstance(side, dict) or not isinstance(side.get("right"), bool):
        return _unanswered(found)
    return say("right") if side["right"] else say("wrong")


def _place(rung: Rung | None) -> tuple[str, str]:
    return (Told(rung.state) if rung else say("not judged")), milliseconds(rung.median_ms if rung else None)


def _unanswered(found: Finding | None) -> str:
    if found is None or found.outcome in ("pass", "fail"):
        return NO_ANSWER
    return say("no answer ({outcome})", outcome=Told(found.outcome))
