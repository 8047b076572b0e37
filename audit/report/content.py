"""Record and figures → the report's view: page one, page two, and what is folded behind them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from audit.model import Record
from audit.report import assessment, cause, outcome, provenance, sizes, tables, times
from audit.report.messages import Recorded, message
from audit.report.view import Figure, Report

SHOWN_FIRST = ("coverage", "errors", "ablation", "waterfall", "sizes", "floors")
"""The figure of page one is the first of these that the record has evidence for."""
OF_A_RATIO = ("waterfall",)
"""Stands before them where the verdict is about the ratio."""


def build(record: Record, figures: Iterable[Figure], sources: Mapping[str, str] | None = None) -> Report:
    """Return the whole report: the sections of a review in their order, each figure in the section that it supports.

    `sources` are texts of the audited claim by their files, as far as they are at hand.
    """
    drawn = {figure.name: figure for figure in figures}
    order = (*OF_A_RATIO, *SHOWN_FIRST) if record.verdict.name in outcome.OF_THE_RATIO else SHOWN_FIRST
    first = tuple(drawn.pop(name) for name in [name for name in order if name in drawn][:1])
    left = {name: (figure,) for name, figure in drawn.items()}
    return Report(
        title=message("page.title", title=Recorded(record.claim.statement.title)),
        lead=tables.lead(record),
        notice=outcome.notice(record),
        footer=message("page.footer", schema=str(record.schema_)),
        made_utc=record.environment.started_utc,
        sections=(
            outcome.section(record, first),
            provenance.reproduce(record),
            tables.checked(record),
            cause.section(record, left.get("ablation", ()), sources or {}),
            times.section(record, tuple(one for name in times.FIGURES for one in left.get(name, ()))),
            assessment.strengths(record),
            assessment.weaknesses(record),
            assessment.questions(record),
            provenance.limitations(record),
            provenance.reply(record),
            outcome.rating(record),
            tables.claimed(record),
            tables.variants(record, (*left.get("coverage", ()), *left.get("errors", ()))),
            *sizes.section(record, left.get("sizes", ())),
            tables.floors(record, left.get("floors", ())),
            provenance.environment(record),
        ),
    )
