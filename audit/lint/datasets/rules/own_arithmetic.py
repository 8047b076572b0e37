"""Are the stated ratios the quotients of the stated times?

A quotient off by about a thousand is two units in one row, milliseconds beside microseconds.
"""

from __future__ import annotations

import pandas as pd

from audit.lint.datasets.answer import Answer, count, mark, not_asked, times
from audit.lint.datasets.dataset import RATIO, TIME, Dataset, place
from audit.report.quantities import number
from audit.report.view import Table

NAME = "own_arithmetic"
TITLE = "Stated ratios against stated times"
CLOSE = 0.02
"""Stated figures are rounded; a ratio that is off by more is none of the times beside it."""
THOUSAND = (500.0, 2000.0)
MOST_NAMED = 8


def run(data: Dataset) -> Answer:
    """Return the rows whose ratio is not baseline time / kernel time."""
    names = [name for name in data.baselines if TIME + name in data.frame]
    if not names:
        return not_asked(NAME, TITLE, "no times are published beside the ratios")
    asked, apart = 0, []
    for name in names:
        rows = data.frame[data.frame[[TIME + name, "kernel_time", RATIO + name]].notna().all(axis=1)]
        asked += len(rows)
        quotient = rows[TIME + name] / rows["kernel_time"]
        off = rows[~((rows[RATIO + name] / quotient - 1).abs() <= CLOSE) | _thousand(quotient)]
        apart += [(row, name) for _, row in off.iterrows()]
    sentences = (
        f"{count(len(apart), asked)} of the ratios with both times are not their quotient or hint at two units.",
    )
    rows_described = tuple((place(row), name, _described(row, name)) for row, name in apart[:MOST_NAMED])
    tables = (
        (Table("Ratios apart from their times", ("Row", "Baseline", "What it says"), rows_described),) if apart else ()
    )
    marks = tuple(mark(row, NAME, "hint", f"{name}: {_described(row, name)}") for row, name in apart)
    return Answer(NAME, TITLE, sentences, (), tables, marks)


def _thousand(quotient: pd.Series) -> pd.Series:
    low, high = THOUSAND
    return quotient.between(low, high) | (1 / quotient).between(low, high)


def _described(row: pd.Series, name: str) -> str:
    quotient = row[TIME + name] / row["kernel_time"]
    unit = "; about a thousand: ms beside µs?" if bool(_thousand(pd.Series([quotient])).iloc[0]) else ""
    both = f"{number(float(row[TIME + name]))} / {number(float(row['kernel_time']))}"
    return f"stated {times(row[RATIO + name])}, times give {both} = {times(quotient)}{unit}"
