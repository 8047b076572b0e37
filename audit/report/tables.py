"""The tables: every variant, the ablations, the inputs one by one, claimed times against floors, every finding."""

from __future__ import annotations

from collections import Counter

from pydantic import JsonValue

from audit.judge import ablation_table
from audit.model import Finding, Record, Rung
from audit.report import evidence
from audit.report.messages import Message, Recorded, headings, joined, message
from audit.report.quantities import NOT_PUBLISHED, UNKNOWN, anything, count_of, milliseconds, number
from audit.report.view import Code, Figure, Section, Table

FLOORS = ("compute_floor_ms", "memory_floor_ms", "matrix_unit_floor_ms")


def summary(record: Record) -> Section:
    """Return one row a variant: both orders, coverage, state and time."""
    rungs = {rung.variant: rung for rung in record.ladder}
    rows = tuple(
        (
            *(Code(one.name), Recorded(one.role), Recorded(one.technique), one.precision),
            *_orders(record, one.name),
            coverage(record, one.name),
            *_state(rungs.get(one.name)),
        )
        for one in record.claim.statement.variant
    )
    columns = headings("variant", "role", "technique", "precision", "claim_first", "reference_first", "coverage",
                       "state", "time")  # fmt: skip
    table = Table(message("summary.table"), columns, rows, frozenset({8}))
    return Section(message("summary.title"), "summary", paragraphs=(_counts(record),), tables=(table,))


def ablation(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return the claimed kernel and the variants that change one thing, in both orders."""
    rows = tuple(
        (
            Code(row.variant),
            joined("comma", map(Recorded, row.changes)) if row.changes else message("ablation.no_change"),
            Recorded(row.claim_first),
            with_difference(record, row.variant, Recorded(row.reference_first)),
            anything(row.right),
        )
        for row in ablation_table(record)
    )
    columns = headings("variant", "changes", "claim_first", "reference_first", "passed")
    table = Table(message("ablation.table"), columns, rows)
    cause = (Recorded(record.verdict.root_cause),) if record.verdict.root_cause else ()
    alone = len(rows) < 2
    return Section(message("ablation.title"), "ablation", paragraphs=(message("ablation.none"),) if alone else cause,
                   tables=() if alone else (table,), figures=figures)  # fmt: skip


def inputs(record: Record) -> Section:
    """Return each input and parameter of the task: its other values, and whether the claimed result followed them."""
    found = evidence.find(record, "dead_inputs", evidence.claimed_name(record))
    rows = tuple(_input(entry) for entry in evidence.entries(found, "inputs"))
    columns = headings("input", "changed_to", "moved", "unchanged", "reading")
    table = Table(message("inputs.table"), columns, rows, frozenset({2, 3}))
    text = message("inputs.introduction" if rows else "inputs.none")
    return Section(message("inputs.title"), "inputs", paragraphs=(text,), tables=(table,) if rows else ())


def floors(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Return the floors of every GPU the claim names, the reported time, and the baseline that a bare ratio needs."""
    rows = tuple(_floor(record, finding) for finding in record.findings if finding.probe == "floor")
    columns = headings("gpu", "claimed_ratio", "compute_floor", "memory_floor", "matrix_unit_floor", "reported_time",
                       "baseline_needed", "reading")  # fmt: skip
    title = message("floors.title")
    table = Table(title, columns, rows, frozenset(range(1, 7)))
    text = message("floors.introduction" if rows else "floors.none")
    return Section(title, "floors", paragraphs=(text,), tables=(table,) if rows else (), figures=figures)


def everything(record: Record) -> Section:
    """Return every finding as the record holds it."""
    rows = tuple(
        (
            *(evidence.title(one.probe), Code(one.target), one.device or ""),
            *(Recorded(text) for text in (one.outcome, one.grade or "", one.summary)),
        )
        for one in record.findings
    )
    columns = headings("question", "about", "device", "outcome", "grade", "summary")
    table = Table(message("findings.table"), columns, rows)
    return Section(message("findings.title"), "findings", paragraphs=() if rows else (message("findings.none"),),
                   tables=(table,) if rows else (), folded=True)  # fmt: skip


def coverage(record: Record, variant: str) -> str:
    """Return how much of the output is written, in rows where whole rows are missing."""
    found = evidence.find(record, "coverage", variant)
    rows, written_rows = evidence.real(found, "rows"), evidence.real(found, "rows_written")
    elements, written = evidence.real(found, "elements"), evidence.real(found, "elements_written")
    if elements is None or written is None:
        return _no_answer(found)
    if written == elements:
        return message("coverage.all", count=number(elements))
    if rows is not None and written_rows is not None and written_rows < rows:
        return count_of(written_rows, rows, form="coverage.rows")
    return count_of(written, elements, form="coverage.elements")


def with_difference(record: Record, variant: str, answer: str) -> str:
    """Return the answer of reference first; where the order fails, whether the result is the reference's bit for bit.

    A variant that is right in both orders may equal the reference too, by summing in the same order.
    """
    found = evidence.find(record, "order", variant)
    side = found.evidence.get("reference_first") if found and found.outcome == "fail" else None
    same = isinstance(side, dict) and side.get("difference_zero") is True
    return message("order.difference_zero", answer=answer) if same and answer == "right" else answer


def _counts(record: Record) -> str:
    """Return how many variants are in each state."""
    answers = number(len(record.findings))
    if not record.ladder:
        return message("summary.not_judged_yet", answers=answers)
    states = Counter(rung.state for rung in record.ladder)
    counts = (
        message("summary.count_state", count=str(count), state=Recorded(state)) for state, count in states.items()
    )
    return message("summary.counts", count=str(len(record.ladder)), states=joined("comma", counts), answers=answers)


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


def _state(rung: Rung | None) -> tuple[str, str]:
    if rung is None:
        return message("summary.not_judged"), milliseconds(None)
    return Recorded(rung.state), milliseconds(rung.median_ms)


def _input(entry: dict[str, JsonValue]) -> tuple[str, ...]:
    name, why, how = (str(entry.get(key, "")) for key in ("input", "not_tested", "how"))
    if why or not entry.get("elements_moved"):
        return Code(name), Recorded(why or how), "", "", message("inputs.untested")
    moved, unchanged = (anything(entry.get(key)) for key in ("elements_moved", "elements_dead"))
    reading = message("inputs.followed" if entry.get("right") is True else "inputs.not_followed")
    return Code(name), Recorded(how), moved, unchanged, reading


def _floor(record: Record, finding: Finding) -> tuple[str, ...]:
    lows = [milliseconds(evidence.real(finding, key), absent=UNKNOWN) for key in FLOORS]
    reported = milliseconds(evidence.real(finding, "reported_kernel_ms"), absent=NOT_PUBLISHED)
    needed = milliseconds(evidence.real(finding, "baseline_needed_ms"), absent=UNKNOWN)
    known = "ratio_only" if evidence.real(finding, "floor_ms") is not None else "unknown"
    reading = message(f"floors.{known if finding.outcome == 'skip' else finding.outcome}")
    return finding.target, evidence.claimed_ratio(record, finding.target), *lows, reported, needed, reading
