"""The figures of a record as PNG bytes that depend on the record alone."""

from __future__ import annotations

from audit.model import Record
from audit.report.figures import ablation, floors, maps, sizes, times, waterfall
from audit.report.view import Figure

DRAWN = {
    maps.COVERAGE: maps.coverage,
    maps.ERRORS: maps.errors,
    sizes.NAME: sizes.draw,
    ablation.NAME: ablation.draw,
    floors.NAME: floors.draw,
    waterfall.NAME: waterfall.draw,
    times.NAME: times.draw,
    times.OF_SIZES: times.of_sizes,
}
NAMES = tuple(DRAWN)


def draw(record: Record) -> tuple[Figure, ...]:
    """Return every figure with evidence, in the order of `NAMES`."""
    return tuple(figure for one in DRAWN.values() if (figure := one(record)) is not None)
