"""The figures of a record as PNG bytes that depend on the record alone."""

from __future__ import annotations

from audit.model import Record
from audit.report.figures import ablation, coverage, floors, sizes, times, waterfall
from audit.report.view import Figure

NAMES = ("coverage", "sizes", "ablation", "floors", "waterfall", "times")


def draw(record: Record) -> tuple[Figure, ...]:
    """Return every figure with evidence, in the order of `NAMES`."""
    drawn = (drawing.draw(record) for drawing in (coverage, sizes, ablation, floors, waterfall, times))
    return tuple(figure for figure in drawn if figure is not None)
