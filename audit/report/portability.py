"""One claim on several GPUs as a page: claimed, possible and measured for each, and what carries over."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.judge import BASELINE
from audit.measure import compared
from audit.model import Record
from audit.report import claimed, evidence, formats, html, markdown
from audit.report.compare import fastest_cleared, floor_of, places, standing
from audit.report.quantities import NOT_MEASURED, NOT_PUBLISHED, UNKNOWN, milliseconds, number, ratio
from audit.report.view import Figure, Report, Section, Table

NAME = "compare"
CARRIES_OVER = (
    "A verdict speaks for the shapes and the device it names. What one device proves of the source is told beside GPUs "
    "that nobody asked, with the place where it was seen. A time speaks only for the GPU it was measured on: where no "
    "record was made, the speed is NOT MEASURED, whatever another GPU showed."
)
NO_RATIO = "none: it is wrong"


def write(records: Sequence[Record], folder: Path) -> list[Path]:
    """Writes `compare.md`, `compare.html` and the figure into `folder`; the same records give the same bytes.

    Raises:
        BadInput: the records are of different claims, of different sources, or unfinished, or as `formats.write`.
    """
    from audit.report.figures import portability  # matplotlib takes half a second that other commands need not wait

    drawn = portability.draw(records)
    figures = () if drawn is None else (drawn,)
    report = page(records, figures)
    pages = {
        f"{NAME}.md": markdown.render(report, figures=formats.FIGURES).encode(),
        f"{NAME}.html": html.render(report).encode(),
    }
    return formats.write(pages, figures, folder)


def page(records: Sequence[Record], figures: tuple[Figure, ...]) -> Report:
    """The view. Raises BadInput as `write`."""
    first = records[0]
    return Report(
        title=f"On several GPUs: {first.claim.statement.title}",
        lead=claimed.lead(first),
        notice=None,
        footer=f"Rendered from {len(records)} records of one claim; every number is in them or derived from them.",
        sections=(
            Section("GPU by GPU", "gpus", paragraphs=(CARRIES_OVER,), tables=(_table(records),), figures=figures),
            Section("The records", "records", tables=(_records(records),)),
        ),
    )


def measured(own: Record | None, variant: str | None) -> str:
    """The variant's ratio to eager in fp32 with its 95 % interval, or why there is none."""
    if own is None or variant is None:
        return NOT_MEASURED
    cleared = any(rung.variant == variant and rung.state == "cleared" for rung in own.ladder)
    if not cleared and own.verdict.name == "wrong":
        return NO_RATIO
    found = compared(own.measurements, variant, BASELINE) if cleared else None
    if found is None:
        return NOT_MEASURED
    low, high = found.ratio.low, found.ratio.high
    bounds = "" if low is None or high is None else f" ({number(low)} to {number(high)})"
    return f"{ratio(found.ratio.value)}{bounds}"


def _table(records: Sequence[Record]) -> Table:
    rows = tuple(_row(gpu, own, records) for gpu, own in places(records))
    columns = ("GPU", "Claimed", "Floor, fp32", "Floor, fastest unit", "Time reported", "Claimed kernel",
               "Its ratio here, against eager fp32", "Fastest cleared fp32 variant", "Its ratio here")  # fmt: skip
    return Table("What is claimed for each GPU, what its hardware allows, and what was measured there", columns, rows,
                 frozenset({1, 2, 3, 4, 6, 8}))  # fmt: skip


def _row(gpu: str, own: Record | None, records: Sequence[Record]) -> tuple[str, ...]:
    floor = floor_of(records, gpu)
    fastest = None if own is None else fastest_cleared(own)
    return (
        gpu,
        evidence.claimed_ratio(records[0], gpu),
        milliseconds(evidence.real(floor, "floor_ms"), absent=UNKNOWN),
        milliseconds(evidence.real(floor, "matrix_unit_floor_ms"), absent=UNKNOWN),
        milliseconds(evidence.real(floor, "reported_kernel_ms"), absent=NOT_PUBLISHED),
        standing(own, records),
        measured(own, evidence.claimed_name(records[0])),
        fastest or NOT_MEASURED,
        measured(own, fastest),
    )


def _records(records: Sequence[Record]) -> Table:
    rows = tuple(
        (
            record.device.name,
            record.verdict.name,
            *(one.state if one else "" for one in (record.verdict.result, record.verdict.task, record.verdict.ratio)),
            record.verdict.confidence or "",
            record.verdict.scope or "",
            record.environment.started_utc[:10],
            record.environment.kit,
        )
        for record in records
    )
    columns = ("Device", "Verdict", "Result", "Task", "Ratio", "Confidence", "Speaks for", "Audited", "Kit")
    return Table("The records this page is made from", columns, rows)
