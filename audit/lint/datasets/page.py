"""Dataset and answers → the view of a report, text for a terminal, and the files that are asked for."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

from audit.lint.datasets.answer import Answer, Mark, rows_of, unless_empty
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules import RULES
from audit.model import sanitizer
from audit.model.atomic import writing
from audit.report import html, markdown, safe_csv
from audit.report.formats import FIGURES
from audit.report.view import Figure, Link, Report, Section, Table

MOST_MARKS, MOST_REFUSED = 120, 60
WIDTH, LEAST_COLUMN, MOST_ROWS, FEW_REFUSED = 118, 7, 24, 5
"""Of text for a terminal."""
COLUMNS = ("file", "row", "which", "rule", "grade", "what for")
LEAD = "Numbers only: nothing was built or run. A hint says where to look and fails no kernel."


def build(data: Dataset, answers: Sequence[Answer], figures: Mapping[str, Figure]) -> Report:
    """Return the whole page; each figure stands in the section of its rule."""
    asked = [answer for answer in answers if answer.asked]
    idle = tuple(f"{answer.title}: {answer.sentences[0]}" for answer in answers if not answer.asked)
    return Report(
        title=f"Claim lint: {data.name}",
        lead=f"{counted(data)} {LEAD}",
        notice=None,
        footer="Made from the rows alone by `audit lint`; the same rows give the same page.",
        sections=(
            _dataset(data),
            Section("In short", "short", bullets=tuple(answer.sentences[0] for answer in asked)),
            *(_of_rule(answer, figures.get(answer.rule)) for answer in asked),
            Section("Not asked", "not-asked", paragraphs=() if idle else ("Every rule was asked.",), bullets=idle),
            _marks([(answer.rule, mark) for answer in asked for mark in answer.marks]),
            _refused(data),
        ),
    )


def counted(data: Dataset) -> str:
    """Return the number of rows, of those with a ratio, and of those left out."""
    gone = data.read - len(data.frame)
    out = f"{gone:,} of {data.read:,} rows were left out." if gone else "No row was left out."
    return f"{rows_of(len(data.frame))}, {len(data.scored):,} of them with a ratio ({data.format}). {out}"


def _dataset(data: Dataset) -> Section:
    about = data.about
    parts = (
        ("Source", Link(about.source)),
        ("Retrieved", about.retrieved),
        ("Remarks", about.note),
        ("Format", data.format),
    )
    facts = tuple((name, text) for name, text in parts if text)
    return Section("The dataset", "dataset", facts=facts, bullets=data.notes)


def _of_rule(answer: Answer, figure: Figure | None) -> Section:
    bias = tuple(f"Which way it errs: {text}" for text in answer.bias)
    return Section(
        answer.title,
        answer.rule,
        paragraphs=(" ".join((RULES[answer.rule].__doc__ or "").split()),),
        bullets=(*answer.sentences, *bias),
        tables=answer.tables,
        figures=(figure,) if figure else (),
    )


def _marks(marks: Sequence[tuple[str, Mark]]) -> Section:
    proved_first = sorted(marks, key=lambda marked: marked[1].grade != "proved")
    rows = tuple(
        (f"{one.file}, {one.row}", one.place, rule, one.grade, one.text) for rule, one in proved_first[:MOST_MARKS]
    )
    left = len(marks) - len(rows)
    more = f"{len(marks):,} marks on rows" + (f"; the other {left:,} are in the CSV file." if left else ".")
    table = Table("Rows that stand out", ("File and row", "Which", "Rule", "Grade", "What for"), rows)
    return Section("Rows that stand out", "marks", paragraphs=(more,), tables=unless_empty(table), folded=True)


def _refused(data: Dataset) -> Section:
    rows = tuple((one.file, f"{one.row:,}", one.column, one.reason) for one in data.refused[:MOST_REFUSED])
    left = len(data.refused) - len(rows)
    sentence = f"{data.read - len(data.frame):,} rows were left out, the others went on."
    more = f" {left:,} more reasons are not shown." if left else ""
    table = Table("Rows left out", ("File", "Row", "Column", "Why"), rows, frozenset({1}))
    return Section("Rows left out", "left-out", paragraphs=(sentence + more,), tables=unless_empty(table), folded=True)


def text(data: Dataset, answers: Sequence[Answer]) -> str:
    """Everything on a page of text."""
    lines = [f"{sanitizer.line(data.name)}: {counted(data)}", *_wrapped(data.notes)]
    lines += [f"  left out: {sanitizer.line(str(one))}" for one in data.refused[:FEW_REFUSED]]
    if len(data.refused) > FEW_REFUSED:
        lines.append(f"  and {len(data.refused) - FEW_REFUSED:,} more")
    for answer in answers:
        if answer.asked:
            lines += ["", answer.title, *_wrapped(answer.sentences)]
            lines += [line for shown in answer.tables[:1] for line in table(shown)]
            lines += _wrapped([f"Errs: {result}" for result in answer.bias])
    not_asked = [(answer.title, answer.sentences[0]) for answer in answers if not answer.asked]
    idle = "; ".join(f"{title} ({why.removeprefix('Not asked: ').rstrip('.')})" for title, why in not_asked)
    lines += ["", *_wrapped([f"Not asked: {idle}."])] if idle else []
    return "\n".join(lines) + "\n"


def table(shown: Table) -> list[str]:
    """Return columns side by side; headings take several lines where they are longer than what stands under them."""
    rows = [[sanitizer.line(cell) for cell in row] for row in shown.rows[:MOST_ROWS]]
    columns = [sanitizer.line(column) for column in shown.columns]
    widths = [
        max(LEAST_COLUMN, *map(len, column.split()), *(len(row[place]) for row in rows), 0)
        for place, column in enumerate(columns)
    ]
    heads = [textwrap.wrap(column, width) for column, width in zip(columns, widths, strict=True)]
    tall = max(map(len, heads))
    heading = [[head[line - tall] if line - tall >= -len(head) else "" for head in heads] for line in range(tall)]
    lines = [_line(cells, widths, shown) for cells in (*heading, ["-" * width for width in widths], *rows)]
    more = len(shown.rows) - len(rows)
    return [*lines, *([f"  and {more:,} more rows"] if more else [])]


def _line(cells: Sequence[str], widths: Sequence[int], shown: Table) -> str:
    placed = [
        cell.rjust(width) if place in shown.numeric else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return ("  " + "  ".join(placed)).rstrip()


def _wrapped(found: Sequence[str]) -> list[str]:
    return [
        line
        for one in found
        for line in textwrap.wrap(sanitizer.line(one), WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]


def files(markdown: Path | None, html: Path | None, csv: Path | None, folder: Path | None) -> dict[Path, str]:
    """Return the kind of every file to write: those asked for, and one of each kind in the folder."""
    asked = {markdown: "md", html: "html", csv: "csv"}
    if folder is not None:
        asked |= {folder / f"lint.{kind}": kind for kind in ("md", "html", "csv")}
    return {path: kind for path, kind in asked.items() if path is not None}


def write(
    asked: Mapping[Path, str], report: Report, answers: Sequence[Answer], figures: Sequence[Figure]
) -> list[Path]:
    """Write those `files` and return the paths; Markdown has its figures in a folder beside it. Raises BadInput: a file
    cannot be written."""
    made = {"md": lambda: markdown.render(report, figures=FIGURES), "html": lambda: html.render(report),
            "csv": lambda: rows(answers)}  # fmt: skip
    written = []
    for path, kind in asked.items():
        written.append(_written(path, made[kind]().encode("utf-8")))
        if kind == "md":
            written += [_written(path.parent / FIGURES / f"{one.name}.png", one.png) for one in figures]
    return written


def rows(answers: Sequence[Answer]) -> str:
    """Return every marked row as CSV; no cell begins like a formula, since names in it are others'."""
    marks = ((answer.rule, mark) for answer in answers for mark in answer.marks)
    cells = ((one.file, one.row, one.place, rule, one.grade, one.text) for rule, one in marks)
    return safe_csv.text(COLUMNS, cells)


def _written(path: Path, data: bytes) -> Path:
    with writing(path, "choose another place"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return path
