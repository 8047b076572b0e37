"""The answer of a rule about a dataset, and its numbers as text."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Literal

import pandas as pd

from audit.lint.datasets.dataset import Dataset, place
from audit.report.view import Table

Grade = Literal["proved", "hint"]


@dataclass(frozen=True)
class Mark:
    """A row that stands out: where it is, what for, and whether that is proved or a hint."""

    file: str
    row: int
    place: str
    grade: Grade
    text: str


@dataclass(frozen=True)
class Answer:
    """One rule's answer."""

    sentences: tuple[str, ...]  # what stands out, one line each
    bias: tuple[str, ...] = ()  # which way the figures err, and why; shown beside them
    tables: tuple[Table, ...] = ()
    marks: tuple[Mark, ...] = ()  # the rows behind the sentences
    asked: bool = True  # False where the dataset lacks what the rule needs; the sentence says what
    rule: str = ""
    title: str = ""  # what was looked at


def rule(title: str) -> Callable[[Callable[[Dataset], Answer]], Callable[[Dataset], Answer]]:
    """Make a rule of a function, which gives it its name; its docstring is the question, then what it rests on."""

    def made(run: Callable[[Dataset], Answer]) -> Callable[[Dataset], Answer]:
        @wraps(run)
        def answered(data: Dataset) -> Answer:
            return replace(run(data), rule=run.__name__, title=title)

        return answered

    return made


def not_asked(why: str) -> Answer:
    """Return the answer of a rule that needs something the dataset has not."""
    return Answer((f"Not asked: {why}.",), asked=False)


def mark(row: pd.Series, grade: Grade, text: str) -> Mark:
    """Return a mark at that row."""
    return Mark(str(row["file"]), int(row["row"]), place(row), grade, text)


def unless_empty(table: Table) -> tuple[Table, ...]:
    """Return a table that has rows as the only one; no table for one that has none."""
    return (table,) if table.rows else ()


def times(value: float) -> str:
    """Return a ratio as text: "1.02x", above a hundred "368.2x", under a tenth "0.0021x"; "none" for NaN."""
    if math.isnan(value):
        return "none"
    if abs(value) < 0.1:
        return f"{value:.2g}x"
    return f"{value:,.2f}x" if value < 100 else f"{value:,.1f}x"


def share(part: float, whole: float = 1.0) -> str:
    """Return a share in whole percent, with one place under ten: "48 %", "1.2 %"; "none" of nothing."""
    if not whole:
        return "none"
    percent = 100 * part / whole
    return f"{percent:.1f} %" if 0 < percent < 10 else f"{percent:.0f} %"


def rows_of(number: int) -> str:
    """ "1 row", "2 rows"."""
    return f"{number:,} row{'s' * (number != 1)}"


def count(part: int, whole: int) -> str:
    """ "34 of 241 (14 %)"."""
    return f"{part:,} of {whole:,} ({share(part, whole)})"
