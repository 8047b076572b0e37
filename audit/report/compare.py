"""Several records of one claim side by side: wrong anywhere is wrong everywhere, a time speaks for its GPU only."""

from __future__ import annotations

from collections.abc import Sequence

from audit.judge import baseline_of
from audit.measure import median_ms, speedup
from audit.model import Finding, Record
from audit.model.errors import BadInput
from audit.model.gpus import names_in
from audit.report import evidence, markdown
from audit.report.quantities import NOT_MEASURED, UNKNOWN, milliseconds, ratio
from audit.report.view import Table

NOT_ASKED = "not asked"
PROVED = ("wrong", "cannot be built", "undefined", "reduced precision")
"""Verdicts that rest on a proof about the source, whose words are told beside GPUs that nobody asked."""


def compare(records: Sequence[Record]) -> str:
    """A Markdown table: one row for every GPU the claim names and for every device a record comes from.

    Raises:
        BadInput: the records are of different claims, of different sources, or unfinished.
    """
    return str(markdown.table(table(records))) + "\n"


def table(records: Sequence[Record]) -> Table:
    """That table's cells. Raises BadInput as `compare`."""
    rows = tuple(_row(gpu, own, records) for gpu, own in places(records))
    columns = ("GPU", "Claimed", "Floor, fp32", "Claimed kernel", "Fastest cleared fp32 variant", "Against eager fp32")
    return Table("", columns, rows, frozenset({1, 2, 5}))


def places(records: Sequence[Record]) -> list[tuple[str, Record | None]]:
    """Every GPU the claim names with the last record made there, if any; then every other device with its record.

    Raises:
        BadInput: the records are of different claims, of different sources, or unfinished.
    """
    first = records[0]
    for record in records:
        if record.verdict.name == "incomplete":
            raise BadInput(f"a record of {record.claim.statement.name} is incomplete; run that audit again")
        if record.claim != first.claim:
            names = f"{first.claim.statement.name}, {record.claim.statement.name}"
            raise BadInput(f"records of different claims or sources ({names}); use the same files")
    named = [speedup.gpu for speedup in first.claim.statement.speedup]
    others = [record for record in records if not names_in(record.device.name) & set(named)]
    found: list[tuple[str, Record | None]] = [(gpu, _of_gpu(records, gpu)) for gpu in named]
    return found + [(record.device.name, record) for record in others]


def floor_of(records: Sequence[Record], gpu: str) -> Finding | None:
    """What the lint says about a GPU the claim names; of another GPU, what the record made there says."""
    told = (one for record in records for one in record.findings if one.target == gpu)
    return next((one for one in told if one.probe in ("floor", "floor_here")), None)


def _of_gpu(records: Sequence[Record], gpu: str) -> Record | None:
    """The last record made on that GPU."""
    return next((record for record in reversed(records) if gpu in names_in(record.device.name)), None)


def _row(gpu: str, own: Record | None, records: Sequence[Record]) -> tuple[str, ...]:
    floor = floor_of(records, gpu)
    fastest = None if own is None else fastest_cleared(own)
    gain = None if own is None or fastest is None else speedup(own.measurements, fastest, baseline_of("fp32"))
    time = None if own is None or fastest is None else median_ms(own.measurements, fastest)
    return (
        gpu,
        evidence.claimed_ratio(records[0], gpu),
        milliseconds(evidence.real(floor, "floor_ms"), absent=UNKNOWN),
        standing(own, records),
        NOT_MEASURED if time is None else f"{fastest}: {milliseconds(time)}",
        NOT_MEASURED if gain is None else ratio(gain),
    )


def standing(own: Record | None, records: Sequence[Record]) -> str:
    """The verdict of the own record; where there is none, what was proved elsewhere, and that nobody asked here."""
    if own is not None:
        return own.verdict.name
    elsewhere = next((one for one in records if one.verdict.name in PROVED), None)
    return NOT_ASKED if elsewhere is None else f"{NOT_ASKED} ({elsewhere.verdict.name} on {elsewhere.device.name})"


def fastest_cleared(record: Record) -> str | None:
    """The cleared fp32 variant with the least median; None where nothing was timed."""
    timed = {rung.variant: rung.median_ms for rung in record.ladder if rung.precision == "fp32" and rung.median_ms}
    return min(timed, key=lambda name: timed[name] or 0.0) if timed else None
