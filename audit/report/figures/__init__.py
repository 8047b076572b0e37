"""The figures a record supports, drawn to PNG bytes that depend on nothing but the record."""

from __future__ import annotations

from audit.model import Record
from audit.report.figures import ablation, coverage, floors, sizes, waterfall
from audit.report.view import Figure

NAMES = ("coverage", "sizes", "ablation", "floors", "waterfall")


def draw(record: Record) -> tuple[Figure, ...]:
    """Every figure there is evidence for, in the order of `NAMES`."""
    drawn = (drawing.draw(record) for drawing in (coverage, sizes, ablation, floors, waterfall))
    return tuple(figure for figure in drawn if figure is not None)
