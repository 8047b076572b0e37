"""The figures of a record as PNG bytes that depend on the record alone."""

from __future__ import annotations

from audit.model import Record
from audit.report.figures import ablation, coverage, errors, floors, size_times, sizes, times, waterfall
from audit.report.view import Figure

DRAWN = (coverage, errors, sizes, ablation, floors, waterfall, times, size_times)
NAMES = tuple(one.NAME for one in DRAWN)


def draw(record: Record) -> tuple[Figure, ...]:
    """Return every figure with evidence, in the order of `NAMES`."""
    return tuple(figure for one in DRAWN if (figure := one.draw(record)) is not None)
