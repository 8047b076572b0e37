"""The figures of a record as PNG bytes that depend on the record alone."""

from __future__ import annotations

from audit.model import Record
from audit.report.figures import ablation, coverage, errors, floors, sizes, times, waterfall
from audit.report.view import Figure

DRAWN = (coverage, errors, sizes, ablation, floors, waterfall, times)
NAMES = (*(one.NAME for one in DRAWN), times.OF_SIZES)


def draw(record: Record) -> tuple[Figure, ...]:
    """Return every figure with evidence, in the order of `NAMES`."""
    drawn = (*(one.draw(record) for one in DRAWN), times.of_sizes(record))
    return tuple(figure for figure in drawn if figure is not None)
