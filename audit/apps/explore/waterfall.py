"""The waterfall of a record; it is the same whatever is chosen."""

from __future__ import annotations

from audit.apps.explore.absent import absent
from audit.apps.explore.choice import Choice
from audit.model import Record
from audit.report.figures import waterfall
from audit.report.quantities import NOT_MEASURED
from audit.report.view import Figure


def draw(record: Record, choice: Choice) -> Figure:  # noqa: ARG001  # every figure is asked alike
    """From the published ratio to the one that can be defended; in words why there is none, where there is none."""
    drawn = waterfall.draw(record)
    why = f"{NOT_MEASURED}: no ratio is published for {record.device.name}, or nothing was timed on it"
    return drawn or absent(waterfall.NAME, f"From the published ratio to the defensible one: {why}.")
