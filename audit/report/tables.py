"""The tables that are folded: every variant, and claimed times against floors; how a variant is written in a cell."""

from __future__ import annotations

from audit.model import Finding, Record, Rung
from audit.report import evidence
from audit.report.messages import (
    NOT_PUBLISHED,
    UNKNOWN,
    Message,
    Recorded,
    count_of,
    headings,
    message,
    milliseconds,
    number,
)
from audit.report.view import Code, Figure, Section, Table

FLOORS = ("compute_floor_ms", "memory_floor_ms", "matrix_unit_floor_ms")


def variants(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return one row a variant: both orders, coverage, state and time."""
    rows = tuple(
        (
            *(Code(one.name), Recorded(one.role), Recorded(one.technique), one.precision),
            *_orders(record, one.name),
            coverage(record, one.name),
            *(state(rung), milliseconds(rung.median_ms if rung else None)),
        )
        for one in record.claim.statement.variant
        for rung in [record.rung(one.name)]
    )
    columns = headings("variant", "role", "technique", "precision", "claim_first", "reference_first", "coverage",
                       "state", "time")  # fmt: skip
    table = Table(message("variants.table"), columns, rows, frozenset({8}))
    return Section(message("variants.title"), "variants", tables=(table,), figures=figures, folded=True)


def floors(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return the floors of every GPU the claim names, the reported time, and the baseline that a bare ratio needs."""
    rows = tuple(_floor(record, finding) for finding in record.findings if finding.probe == "floor")
    columns = headings("gpu", "claimed_ratio", "compute_floor", "memory_floor", "matrix_unit_floor", "reported_time",
                       "baseline_needed", "reading")  # fmt: skip
    title = message("floors.title")
    table = Table(title, columns, rows, frozenset(range(1, 7)))
    text = message("floors.introduction" if rows else "floors.none")
    tables = (table,) if rows else ()
    return Section(title, "floors", paragraphs=(text,), tables=tables, figures=figures, folded=True)


def coverage(record: Record, variant: str) -> str:
    """Return how much of the output is written, in rows where whole rows are missing."""
    found = evidence.find(record, "coverage", variant)
    elements, written = evidence.real(found, "elements"), evidence.real(found, "elements_written")
    if elements is None or written is None:
        return _no_answer(found)
    if written == elements:
        return message("coverage.all", count=number(elements))
    rows = in_rows(found)
    return count_of(*rows, form="coverage.rows") if rows else count_of(written, elements, form="coverage.elements")


def in_rows(found: Finding | None) -> tuple[float, float] | None:
    """Return how many rows are written, of how many; None where no row of several is missing, or of several outputs."""
    rows, written = evidence.real(found, "rows"), evidence.real(found, "rows_written")
    if rows is None or written is None or rows in (1, written) or (found and "output" in found.evidence):
        return None
    return written, rows


def with_difference(record: Record, variant: str, answer: str) -> str:
    """Return the answer of reference first; where the order fails, whether the result is the reference's bit for bit.

    A variant that is right in both orders may equal the reference too, by summing in the same order.
    """
    found = evidence.find(record, "order", variant)
    side = found.evidence.get("reference_first") if found and found.outcome == "fail" else None
    same = isinstance(side, dict) and side.get("difference_zero") is True
    return message("order.difference_zero", answer=answer) if same and answer == "right" else answer


def _orders(record: Record, variant: str) -> tuple[str, str]:
    found = evidence.find(record, "order", variant)
    late = _side(found, "reference_first")
    return _side(found, "claim_first"), with_difference(record, variant, late)


def _side(found: Finding | None, key: str) -> str:
    side = found.evidence.get(key) if found else None
    if not isinstance(side, dict) or not isinstance(side.get("right"), bool):
        return _no_answer(found)
    return message("order.right" if side["right"] else "order.wrong")


def _no_answer(found: Finding | None) -> Message:
    if found is None or found.outcome in ("pass", "fail"):
        return message("answer.none")
    return message("answer.none_because", outcome=Recorded(found.outcome))


def state(rung: Rung | None) -> str:
    """Return the state of a variant in the words of tests."""
    return message("state.not_judged" if rung is None else f"state.{rung.state}")


def _floor(record: Record, finding: Finding) -> tuple[str, ...]:
    lows = [milliseconds(evidence.real(finding, key), absent=UNKNOWN) for key in FLOORS]
    reported = milliseconds(evidence.real(finding, "reported_kernel_ms"), absent=NOT_PUBLISHED)
    needed = milliseconds(evidence.real(finding, "baseline_needed_ms"), absent=UNKNOWN)
    known = "ratio_only" if evidence.real(finding, "floor_ms") is not None else "unknown"
    reading = message(f"floors.{known if finding.outcome == 'skip' else finding.outcome}")
    return finding.target, evidence.claimed_ratio(record, finding.target), *lows, reported, needed, reading
