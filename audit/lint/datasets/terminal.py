"""Answers as plain text for a terminal: sentences, the first table of each rule, and which way its figures err."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from audit.lint.datasets import page
from audit.lint.datasets.answer import Answer
from audit.lint.datasets.dataset import Dataset
from audit.model import sanitizer
from audit.report.view import Table

WIDTH = 118
LEAST_COLUMN, MOST_ROWS, MOST_REFUSED = 7, 24, 5


def text(data: Dataset, answers: Sequence[Answer]) -> str:
    """Everything on a page of text."""
    lines = [f"{sanitizer.line(data.name)}: {page.counted(data)}", *_wrapped(data.notes)]
    lines += [f"  left out: {sanitizer.line(str(one))}" for one in data.refused[:MOST_REFUSED]]
    if len(data.refused) > MOST_REFUSED:
        lines.append(f"  and {len(data.refused) - MOST_REFUSED:,} more")
    for answer in answers:
        if answer.asked:
            lines += ["", answer.title, *_wrapped(answer.sentences)]
            lines += [line for shown in answer.tables[:1] for line in table(shown)]
            lines += _wrapped([f"Errs: {told}" for told in answer.bias])
    idle = [
        f"{answer.title} ({answer.sentences[0].removeprefix('Not asked: ').rstrip('.')})"
        for answer in answers
        if not answer.asked
    ]
    lines += ["", *_wrapped([f"Not asked: {'; '.join(idle)}."])] if idle else []
    return "\n".join(lines) + "\n"


def table(shown: Table) -> list[str]:
    """Columns side by side; headings take several lines where they are longer than what stands under them."""
    rows = [[sanitizer.line(cell) for cell in row] for row in shown.rows[:MOST_ROWS]]
    columns = [sanitizer.line(column) for column in shown.columns]
    widths = [_width(column, [row[place] for row in rows]) for place, column in enumerate(columns)]
    heads = [textwrap.wrap(column, width) for column, width in zip(columns, widths, strict=True)]
    tall = max(map(len, heads))
    heading = [[head[line - tall] if line - tall >= -len(head) else "" for head in heads] for line in range(tall)]
    lines = [_line(cells, widths, shown) for cells in (*heading, ["-" * width for width in widths], *rows)]
    more = len(shown.rows) - len(rows)
    return [*lines, *([f"  and {more:,} more rows"] if more else [])]


def _width(column: str, cells: Sequence[str]) -> int:
    return max(LEAST_COLUMN, *map(len, column.split()), *map(len, cells), 0)


def _line(cells: Sequence[str], widths: Sequence[int], shown: Table) -> str:
    placed = [
        cell.rjust(width) if place in shown.numeric else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return ("  " + "  ".join(placed)).rstrip()


def _wrapped(told: Sequence[str]) -> list[str]:
    return [
        line
        for one in told
        for line in textwrap.wrap(sanitizer.line(one), WIDTH, initial_indent="  ", subsequent_indent="    ")
    ]
