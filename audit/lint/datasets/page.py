"""Dataset and answers → the view of a report, which the renderers turn into Markdown and HTML."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from audit.lint.datasets.answer import Answer, Mark, rows_of
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules import RULES
from audit.report.view import Figure, Link, Report, Section, Table

MOST_MARKS, MOST_REFUSED = 120, 60
LEAD = "Numbers only: nothing was built or run. A hint says where to look, and convicts nobody."


def build(data: Dataset, answers: Sequence[Answer], figures: Mapping[str, Figure]) -> Report:
    """The whole page; each figure stands in the section of its rule."""
    asked = [answer for answer in answers if answer.asked]
    return Report(
        title=f"Claim lint: {data.name}",
        lead=f"{counted(data)} {LEAD}",
        notice=None,
        footer="Made from the rows alone by `audit lint`; the same rows give the same page.",
        sections=(
            _dataset(data),
            Section("In short", "short", bullets=tuple(answer.sentences[0] for answer in asked)),
            *(_of_rule(answer, figures.get(answer.rule)) for answer in asked),
            _not_asked([answer for answer in answers if not answer.asked]),
            _marks([mark for answer in asked for mark in answer.marks]),
            _refused(data),
        ),
    )


def counted(data: Dataset) -> str:
    """How many rows there are, of what, and how many were left out."""
    gone = data.read - len(data.frame)
    out = f"{gone:,} of {data.read:,} rows were left out." if gone else "No row was left out."
    return f"{rows_of(len(data.frame))}, {len(data.scored):,} of them with a ratio ({data.format}). {out}"


def question(rule: str) -> str:
    """What a rule asks, as the first paragraph of its file says it."""
    told = sys.modules[RULES[rule].__module__].__doc__ or ""
    return " ".join(told.strip().partition("\n\n")[0].split())


def explained(rule: str) -> str:
    """What the rule's file says behind its question; empty where that is all."""
    told = sys.modules[RULES[rule].__module__].__doc__ or ""
    return " ".join(told.strip().partition("\n\n")[2].split())


def _dataset(data: Dataset) -> Section:
    about = data.about
    told = (
        ("Source", Link(about.source)),
        ("Retrieved", about.retrieved),
        ("Remarks", about.note),
        ("Format", data.format),
    )
    facts = tuple((name, text) for name, text in told if text)
    return Section("The dataset", "dataset", facts=facts, bullets=data.notes)


def _of_rule(answer: Answer, figure: Figure | None) -> Section:
    first = " ".join(filter(None, [question(answer.rule), explained(answer.rule)]))
    bias = tuple(f"Which way it errs: {text}" for text in answer.bias)
    return Section(
        answer.title,
        answer.rule,
        paragraphs=(first,),
        bullets=(*answer.sentences, *bias),
        tables=answer.tables,
        figures=(figure,) if figure else (),
    )


def _not_asked(answers: Sequence[Answer]) -> Section:
    bullets = tuple(f"{answer.title}: {answer.sentences[0]}" for answer in answers)
    return Section("Not asked", "not-asked", paragraphs=() if bullets else ("Every rule was asked.",), bullets=bullets)


def _marks(marks: Sequence[Mark]) -> Section:
    proved_first = sorted(marks, key=lambda one: one.grade != "proved")
    rows = tuple(
        (f"{one.file}, {one.row}", one.place, one.rule, one.grade, one.text) for one in proved_first[:MOST_MARKS]
    )
    left = len(marks) - len(rows)
    more = f"{len(marks):,} marks on rows" + (f"; the other {left:,} are in the CSV file." if left else ".")
    table = Table("Rows that stand out", ("File and row", "Which", "Rule", "Grade", "What for"), rows)
    return Section("Rows that stand out", "marks", paragraphs=(more,), tables=(table,) if rows else (), folded=True)


def _refused(data: Dataset) -> Section:
    rows = tuple((one.file, f"{one.row:,}", one.column, one.reason) for one in data.refused[:MOST_REFUSED])
    left = len(data.refused) - len(rows)
    told = f"{data.read - len(data.frame):,} rows were left out, the others went on."
    more = f" {left:,} more reasons are not shown." if left else ""
    table = Table("Rows left out", ("File", "Row", "Column", "Why"), rows, frozenset({1}))
    return Section("Rows left out", "left-out", paragraphs=(told + more,), tables=(table,) if rows else (), folded=True)
