"""Do the figures published about the dataset come out of the dataset?"""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from audit.lint.datasets.answer import Answer, not_asked, times
from audit.lint.datasets.dataset import RATIO, Dataset, Published
from audit.report.view import Table

NAME = "published"
TITLE = "Figures published about it"
CLOSE = 0.02
"""A figure that differs by more is said to differ; rounding to two places moves none by that much."""
STATISTICS: dict[str, Callable[[pd.Series], float]] = {
    "mean": lambda ratios: float(ratios.mean()),
    "median": lambda ratios: float(ratios.median()),
    "maximum": lambda ratios: float(ratios.max()),
    "upper quartile": lambda ratios: float(ratios.quantile(0.75)),
    "rows": lambda ratios: float(len(ratios)),
}


def run(data: Dataset) -> Answer:
    """Return each published figure beside the one the rows give."""
    if not data.about.published:
        return not_asked(NAME, TITLE, "no dataset.toml beside the rows names a published figure")
    found = [(one, _ours(one, data)) for one in data.about.published]
    rows = tuple(_row(one, ours) for one, ours in found)
    columns = ("GPU", "Level", "Baseline", "Statistic", "Published", "In these rows", "Reading")
    table = Table("Published figures and what the rows give", columns, rows, frozenset({4, 5}))
    apart = sum(row[-1] != "the same" for row in rows)
    sentence = (
        f"Published figures that are not what these rows give (counts exactly, ratios to 2 %): {apart} of {len(rows)}."
    )
    bias = ("A release may have been updated after its figures were published; the rows here are those of the file.",)
    return Answer(NAME, TITLE, (sentence,), bias, (table,))


def _ours(one: Published, data: Dataset) -> float | None:
    column = RATIO + (one.baseline or data.baselines[0])
    if column not in data.frame:
        return None
    rows = data.scored[(data.scored["gpu"] == one.gpu) & (data.scored["level"].isin([one.level]) | (one.level == ""))]
    ratios = rows[column].dropna()
    return STATISTICS[one.statistic](ratios) if len(ratios) else None


def _row(one: Published, ours: float | None) -> tuple[str, ...]:
    head = (one.gpu, one.level or "all", one.baseline or "the headline's", one.statistic)
    result = (lambda value: f"{value:,.0f}") if one.statistic == "rows" else times
    if ours is None:
        return (*head, result(one.value), "none", "no such rows")
    close = abs(ours - one.value) <= (0 if one.statistic == "rows" else CLOSE) * one.value
    reading = "the same" if close else "higher in the file" if ours > one.value else "lower in the file"
    return (*head, result(one.value), result(ours), reading)
