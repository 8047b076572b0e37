"""The explore stage: pure functions from a record and a choice to figures, and the widgets that let a person choose."""

from __future__ import annotations

from audit.apps.explore.choice import Choice
from audit.apps.explore.maps import coverage, errors, times, waterfall
from audit.model import Record
from audit.report.view import Figure

__all__ = ["Choice", "figures"]


def figures(record: Record, choice: Choice) -> tuple[Figure, ...]:
    """Coverage map, error map, distributions of times and waterfall; where there is no evidence the figure says so."""
    return tuple(draw(record, choice) for draw in (coverage, errors, times, waterfall))
