"""Record and figures → the report's view: the sections in their order."""

from __future__ import annotations

from collections.abc import Iterable

from audit.model import Record
from audit.report import (
    checklists,
    claimed,
    limitations,
    outcome,
    provenance,
    questions,
    rating,
    sizes,
    soundness,
    strengths,
    summary,
    tables,
    times,
    weaknesses,
)
from audit.report.said import Told, say
from audit.report.view import Figure, Report


def build(record: Record, figures: Iterable[Figure]) -> Report:
    """The whole report; each figure stands in the section of its name, where it was drawn."""
    drawn = {figure.name: (figure,) for figure in figures}
    return Report(
        title=say("Audit: {title}", title=Told(record.claim.statement.title)),
        lead=claimed.lead(record),
        notice=outcome.notice(record),
        footer=say(
            "Rendered from a record of schema {schema}; every number above is in it or derived from it.",
            schema=str(record.schema_),
        ),
        sections=(
            claimed.section(record),
            outcome.section(record, drawn.get("coverage", ())),
            summary.section(record),
            soundness.section(record),
            strengths.section(record),
            weaknesses.section(record),
            *sizes.section(record, drawn.get("sizes", ())),
            tables.ablation(record, drawn.get("ablation", ())),
            tables.inputs(record),
            tables.floors(record, drawn.get("floors", ())),
            times.measured(record, drawn.get("waterfall", ())),
            questions.section(record),
            limitations.section(record),
            rating.section(record),
            checklists.section(record),
            provenance.environment(record),
            provenance.reproduce(record),
            provenance.reply(record),
            times.every(record),
            tables.everything(record),
        ),
    )
