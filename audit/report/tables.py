"""The ablation table, claimed times against the floors, and every finding."""

from __future__ import annotations

from audit.judge import ablation_table
from audit.model import Finding, Record
from audit.report import evidence
from audit.report.quantities import NOT_PUBLISHED, milliseconds
from audit.report.summary import with_difference
from audit.report.view import Code, Figure, Section, Table

READINGS = {"pass": "at or over the floor", "fail": "under the floor", "error": "no floor: error"}


def ablation(record: Record, figures: tuple[Figure, ...]) -> Section:
    """The claimed kernel and its one-change ablations, in both orders."""
    rows = tuple(
        (
            Code(row.variant),
            ", ".join(row.changes) or "nothing (the claim)",
            row.claim_first,
            with_difference(record, row.variant, row.reference_first),
            "yes" if row.right else "no",
        )
        for row in ablation_table(record)
    )
    columns = ("Variant", "Changed against the claim", "Claim first", "Reference first", "Passed every probe")
    cause = (record.verdict.root_cause,) if record.verdict.root_cause else ()
    table = Table("The claimed kernel and variants that change one thing", columns, rows)
    only = len(rows) < 2
    return Section(
        "Ablation: which single change matters",
        "ablation",
        paragraphs=("No variant of this claim changes one thing alone.",) if only else cause,
        tables=() if only else (table,),
        figures=figures,
    )


def floors(record: Record, figures: tuple[Figure, ...]) -> Section:
    """Every GPU the claim names: three floors, the reported time, and what a bare ratio asks of the baseline."""
    rows = tuple(_floor(record, finding) for finding in record.findings if finding.probe == "floor")
    columns = ("GPU", "Claimed ratio", "Compute floor, fp32", "Memory floor", "Matrix-unit floor",
               "Reported kernel time", "Baseline needed at the fp32 floor", "Reading")  # fmt: skip
    table = Table("Claimed time against the hardware floor", columns, rows, frozenset(range(1, 7)))
    text = (
        "A floor is the least time the stated work takes at data-sheet peak rates. A ratio alone fixes no time: its "
        "row says how long the baseline would have to take, at least, with the kernel at the fp32 floor."
    )
    empty = "No GPU has been compared with its floor in this audit."
    return Section("Claimed time against the hardware floor", "floors", paragraphs=(text if rows else empty,),
                   tables=(table,) if rows else (), figures=figures)  # fmt: skip


def everything(record: Record) -> Section:
    """Every finding as the record holds it."""
    rows = tuple(
        (evidence.title(one.probe), Code(one.target), one.device or "", one.outcome, one.grade or "", one.summary)
        for one in record.findings
    )
    columns = ("Question", "About", "Device", "Outcome", "Grade", "Summary")
    paragraphs = () if rows else ("None yet.",)
    table = Table("Every finding of this audit", columns, rows)
    return Section("Every finding", "findings", paragraphs=paragraphs, tables=(table,) if rows else (), folded=True)


def _floor(record: Record, finding: Finding) -> tuple[str, ...]:
    keys = ("compute_floor_ms", "memory_floor_ms", "matrix_unit_floor_ms")
    lows = [milliseconds(evidence.real(finding, key), absent="unknown") for key in keys]
    reported = milliseconds(evidence.real(finding, "reported_kernel_ms"), absent=NOT_PUBLISHED)
    needed = milliseconds(evidence.real(finding, "baseline_needed_ms"), absent="unknown")
    known = evidence.real(finding, "floor_ms") is not None
    reading = READINGS.get(finding.outcome, "ratio only" if known else "no floor known")
    return finding.target, evidence.claimed_ratio(record, finding.target), *lows, reported, needed, reading
