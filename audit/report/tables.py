"""The ablation table, claimed times against the floors, measured times, and every finding."""

from __future__ import annotations

from audit.gpus import names_in
from audit.judge import ablation_table, baseline_of
from audit.measure import speedup
from audit.model import Finding, Measurement, Record
from audit.report import evidence
from audit.report.quantities import NOT_MEASURED, NOT_PUBLISHED, middle, milliseconds, number, ratio, shape
from audit.report.summary import with_difference
from audit.report.view import Code, Figure, Section, Table

LOWER = "tf32"
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
    return Section(
        "Ablation: which single change matters", "ablation", paragraphs=cause, tables=(table,), figures=figures
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


def measured(record: Record) -> Section:
    """Medians and extremes derived from the raw samples; a kernel that is not cleared is marked as an exhibit."""
    rows = tuple(_timing(record, one) for one in record.measurements)
    columns = ("What", "Shape", "Protocol", "Samples", "Median", "Least", "Most", "Against eager", "Of the fp32 floor",
               "Of the matrix-unit floor", "Standing")  # fmt: skip
    table = Table(f"Times on {record.device.name}", columns, rows, frozenset(range(3, 10)))
    text = (
        "Medians of raw samples. Against eager: the median of eager torch under the same protocol over this one; "
        "variants that round their inputs are compared with eager torch that may use TF32. Of a floor: the data-sheet "
        "floor of this GPU over the median. Only work on the matrix units can pass 100 % of the fp32 floor, which is "
        "that of the CUDA cores; nothing can pass 100 % of the other. "
        "A kernel that is not cleared is an exhibit: what the published protocol reports of it, with no speedup."
    )
    empty = f"{NOT_MEASURED}: {record.device.name} recorded no time."
    return Section("Measured times", "measured", paragraphs=(text if rows else empty,), tables=(table,) if rows else ())


def everything(record: Record) -> Section:
    """Every finding as the record holds it."""
    rows = tuple(
        (evidence.title(one.probe), Code(one.target), one.outcome, one.grade or "", one.summary)
        for one in record.findings
    )
    columns = ("Question", "About", "Outcome", "Grade", "Summary")
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


def _timing(record: Record, one: Measurement) -> tuple[str, ...]:
    variants = {variant.name: variant.precision for variant in record.claim.statement.variant}
    precision = variants.get(one.variant, LOWER if one.variant == baseline_of(LOWER) else "fp32")
    exhibit = one.variant in variants and not _cleared(record, one.variant)
    against = None if exhibit else speedup(record.measurements, one.variant, baseline_of(precision), one.protocol)
    median = middle(one.samples_ms)
    return (
        Code(one.variant),
        shape(one.shape),
        one.protocol,
        number(len(one.samples_ms)),
        *(milliseconds(value) for value in (median, min(one.samples_ms), max(one.samples_ms))),
        "none" if against is None else ratio(against),
        *("none" if exhibit else _share(floor, median) for floor in floors_ms(record)),
        "exhibit only: not cleared" if exhibit else "counts",
    )


def floors_ms(record: Record) -> tuple[float | None, float | None]:
    """The floors of the record's own GPU, CUDA cores and matrix units; None where the claim has none for it."""
    found = [one for one in record.findings if one.probe == "floor" and one.target in names_in(record.device.name)]
    floor = found[0] if found else None
    return evidence.real(floor, "floor_ms"), evidence.real(floor, "matrix_unit_floor_ms")


def _share(floor: float | None, median: float) -> str:
    return "unknown" if floor is None else f"{number(100 * floor / median)} %"


def _cleared(record: Record, variant: str) -> bool:
    return any(rung.variant == variant and rung.state == "cleared" for rung in record.ladder)
