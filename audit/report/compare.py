"""Several records of one claim side by side, as a table and as a page.

A verdict that rests on the source holds on every GPU. A time speaks for the GPU it was measured on.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from audit.claims import STATEMENT
from audit.judge import BASELINE
from audit.measure import median_ms
from audit.model import Claim, Finding, Record
from audit.model.errors import BadInput
from audit.model.gpus import names_in
from audit.report import evidence, formats, html, markdown, tables
from audit.report.messages import NOT_MEASURED, NOT_PUBLISHED, UNKNOWN, milliseconds
from audit.report.view import Figure, Report, Section, Table

NOT_ASKED = "not asked"
NO_RATIO = {"failed": "none: it is wrong", "undefined": "none: undefined behaviour", "undecided": "none: not decided"}
"""By the state of a variant that did not pass."""
CARRIES_OVER = (
    "A verdict speaks for the shapes and the device it names. What one device proves of the source is told beside GPUs "
    "that nobody asked, with the place where it was seen. A time speaks only for the GPU it was measured on: where no "
    "record was made, the speed is NOT MEASURED, whatever another GPU showed."
)
PROVED = ("wrong", "cannot be built", "undefined", "aliased result", "reduced precision")
"""Verdicts that rest on a proof about the source and are shown beside GPUs without a record."""


def compare(records: Sequence[Record]) -> str:
    """Return a Markdown table: a row for every GPU the claim names and for every device a record comes from. Raises
    BadInput: the records are of different claims, of different sources, or unfinished."""
    return str(markdown.table(table(records))) + "\n"


def write(records: Sequence[Record], folder: Path) -> list[Path]:
    """Write `compare.md`, `compare.html` and the figure into a folder; the same records give the same bytes. Raises
    BadInput: as `compare` and `formats.write`."""
    from audit.report.figures import portability  # which imports this module

    drawn = portability.draw(records)
    figures = () if drawn is None else (drawn,)
    view = page(records, figures)
    pages = {
        "compare.md": markdown.render(view, figures=formats.FIGURES).encode(),
        "compare.html": html.render(view).encode(),
    }
    return formats.write(pages, figures, folder)


def table(records: Sequence[Record]) -> Table:
    """Return the table of `compare`. Raises BadInput as `compare`."""
    columns = ("GPU", "Claimed", "Floor, fp32", "Claimed kernel", "Fastest passing fp32 variant", "Against eager fp32")
    rows = tuple((*_stated(gpu, records), standing(own, records), *_fastest_here(own)) for gpu, own in places(records))
    return Table("", columns, rows, frozenset({1, 2, 5}))


def page(records: Sequence[Record], figures: tuple[Figure, ...]) -> Report:
    """Return the page as a view. Raises BadInput as `compare`."""
    first = records[0]
    return Report(
        title=f"On several GPUs: {first.claim.statement.title}",
        lead=tables.lead(first),
        notice=None,
        footer=f"Rendered from {len(records)} records of one claim; every number is in them or derived from them.",
        sections=(
            Section("GPU by GPU", "gpus", paragraphs=(CARRIES_OVER,), tables=(_gpus(records),), figures=figures),
            Section("The records", "records", tables=(_records(records),)),
        ),
    )


def places(records: Sequence[Record]) -> list[tuple[str, Record | None]]:
    """Return every GPU the claim names with the last record made there, then every other device with its record. Raises
    BadInput: as `compare`."""
    first = records[0]
    for record in records:
        if record.verdict.name == "incomplete":
            raise BadInput(f"a record of {record.claim.statement.name} is incomplete; run that audit again")
        if not _of_same_files(record, first):
            names = f"{first.claim.statement.name}, {record.claim.statement.name}"
            raise BadInput(f"records of different claims or sources ({names}); use the same files")
    named = list(dict.fromkeys(speedup.gpu for speedup in first.claim.statement.ratios))
    last = {gpu: record for record in records for gpu in names_in(record.device.name)}
    others = [record for record in records if not names_in(record.device.name) & set(named)]
    return [*((gpu, last.get(gpu)) for gpu in named), *((record.device.name, record) for record in others)]


def _of_same_files(one: Record, other: Record) -> bool:
    """Whether two records are of one claim; what only one of two devices' builds read differs in no file.

    The statement is compared by its content: its comments and the words of an older kit may be others, and a repair may
    have joined the claim between the two.
    """
    known = {source.file: source for source in one.claim.sources if source.file != STATEMENT}
    same = all(known.get(source.file, source) == source for source in other.claim.sources)
    return same and _known_to(other, one) == _known_to(one, other)


def _known_to(other: Record, one: Record) -> Claim:
    """Return the statement of `one` without repairs that `other` lacks."""
    files = {variant.file for variant in other.claim.statement.variant}
    statement = one.claim.statement
    kept = tuple(variant for variant in statement.variant if variant.role != "repair" or variant.file in files)
    return statement.model_copy(update={"variant": kept})


def standing(own: Record | None, records: Sequence[Record]) -> str:
    """Return the verdict of a GPU's own record; without one, a proof from elsewhere with its device."""
    if own is not None:
        return own.verdict.name
    elsewhere = next((one for one in records if one.verdict.name in PROVED), None)
    return NOT_ASKED if elsewhere is None else f"{NOT_ASKED} ({elsewhere.verdict.name} on {elsewhere.device.name})"


def measured(own: Record | None, variant: str | None) -> str:
    """Return a variant's ratio to eager in fp32 with its 95 % interval and its doubt, or why there is none."""
    if own is None or variant is None:
        return NOT_MEASURED
    rung = own.rung(variant)
    state = rung.state if rung else "failed" if own.verdict.name == "wrong" else None
    if state in NO_RATIO:
        return NO_RATIO[state]
    return evidence.ratio_of(own, variant, BASELINE) if state == "passed" else NOT_MEASURED


def fastest_passing(record: Record | None) -> str | None:
    """Return the passing fp32 variant with the least median; None where none was timed."""
    rungs = record.ladder if record else ()
    timed = {rung.variant: rung.median_ms for rung in rungs if rung.precision == "fp32" and rung.median_ms}
    return min(timed, key=lambda name: timed[name] or 0.0) if timed else None


def _stated(gpu: str, records: Sequence[Record]) -> tuple[str, str, str]:
    floor = milliseconds(evidence.real(_floor(records, gpu), "floor_ms"), absent=UNKNOWN)
    return gpu, evidence.claimed_ratio(records[0], gpu), floor


def _floor(records: Sequence[Record], gpu: str) -> Finding | None:
    """Return the lint's finding about a GPU the claim names; of another GPU, that of the record made there."""
    about = (one for record in records for one in record.findings if one.target == gpu)
    return next((one for one in about if one.probe in ("floor", "floor_here")), None)


def _fastest_here(own: Record | None) -> tuple[str, str]:
    name = fastest_passing(own)
    if own is None or name is None:
        return NOT_MEASURED, NOT_MEASURED
    return f"{name}: {milliseconds(median_ms(own.measurements, name))}", measured(own, name)


def _gpus(records: Sequence[Record]) -> Table:
    columns = ("GPU", "Claimed", "Floor, fp32", "Floor, fastest unit", "Time reported", "Claimed kernel",
               "Its ratio here, against eager fp32", "Fastest passing fp32 variant", "Its ratio here")  # fmt: skip
    rows = tuple(
        (
            *_stated(gpu, records),
            milliseconds(evidence.real(_floor(records, gpu), "matrix_unit_floor_ms"), absent=UNKNOWN),
            milliseconds(evidence.real(_floor(records, gpu), "reported_kernel_ms"), absent=NOT_PUBLISHED),
            *(standing(own, records), measured(own, records[0].claimed_name)),
            *(fastest_passing(own) or NOT_MEASURED, measured(own, fastest_passing(own))),
        )
        for gpu, own in places(records)
    )
    caption = "What is claimed for each GPU, what its hardware allows, and what was measured there"
    return Table(caption, columns, rows, frozenset({1, 2, 3, 4, 6, 8}))


def _records(records: Sequence[Record]) -> Table:
    rows = tuple(
        (
            *(record.device.name, record.verdict.name),
            *(one.state if one else "" for one in (record.verdict.result, record.verdict.task, record.verdict.ratio)),
            *(record.verdict.confidence or "", record.verdict.scope or ""),
            *(record.environment.started_utc[:10], record.environment.kit),
        )
        for record in records
    )
    columns = ("Device", "Verdict", "Result", "Task", "Ratio", "Confidence", "Speaks for", "Audited", "Kit")
    return Table("The records this page is made from", columns, rows)
