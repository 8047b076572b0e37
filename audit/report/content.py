"""Record and figures → the report's view: the sections in their order."""

from __future__ import annotations

from collections.abc import Iterable

from audit.model import Record
from audit.report import assessment, checks, claimed, limitations, outcome, provenance, sizes, tables, times
from audit.report.messages import Recorded, message
from audit.report.view import Figure, Report


def build(record: Record, figures: Iterable[Figure]) -> Report:
    """Return the whole report; each figure stands in the section of its name."""
    drawn = {figure.name: (figure,) for figure in figures}
    return Report(
        title=message("page.title", title=Recorded(record.claim.statement.title)),
        lead=claimed.lead(record),
        notice=outcome.notice(record),
        footer=message("page.footer", schema=str(record.schema_)),
        sections=(
            claimed.section(record),
            outcome.section(record, drawn.get("coverage", ())),
            tables.summary(record),
            checks.soundness(record),
            assessment.strengths(record),
            assessment.weaknesses(record),
            *sizes.section(record, drawn.get("sizes", ())),
            tables.ablation(record, drawn.get("ablation", ())),
            tables.inputs(record),
            tables.floors(record, drawn.get("floors", ())),
            times.measured(record, drawn.get("waterfall", ())),
            assessment.questions(record),
            limitations.section(record),
            outcome.rating(record),
            checks.checklists(record),
            provenance.environment(record),
            provenance.reproduce(record),
            provenance.reply(record),
            times.every(record),
            tables.everything(record),
        ),
    )
