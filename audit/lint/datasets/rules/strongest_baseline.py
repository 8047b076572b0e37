"""How much of the speedup is left against the strongest baseline the dataset itself publishes?

Each row is held against the baseline that was fastest for that row, hence against its smallest ratio. That smallest of
several noisy ratios errs low, so two figures that do not choose row by row stand beside it: the second smallest, and
the one baseline that is strongest over all rows.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from audit.lint.datasets.answer import Answer, mark, not_asked, rows_of, share, times
from audit.lint.datasets.dataset import RATIO, Dataset, place
from audit.report.view import Table

NAME = "strongest_baseline"
TITLE = "Against the strongest of its own baselines"
FALLS_FROM, FALLS_TO = 2.0, 1.3
MOST_NAMED = 5


def run(data: Dataset) -> Answer:
    """Return the medians per GPU, and the rows whose headline is owed to the baseline it was taken against."""
    if len(data.baselines) < 2:
        return not_asked(NAME, TITLE, f"one baseline only ({data.baselines[0]})")
    parts = data.by_gpu()
    rows = tuple(_row(gpu, part, data) for gpu, part in parts)
    eager = data.baselines[0]
    columns = ("GPU", "Rows", f"Median against {eager}", "Median against the strongest (errs low)", "95 % interval",
               "Against the second strongest (errs high)", "Against the one strongest over all rows (errs high)",
               "Slower than the strongest")  # fmt: skip
    table = Table("Median ratio per GPU, by baseline", columns, rows, frozenset(range(1, 8)))
    fallen = _fallen(data)
    medians = ", ".join(f"{gpu} {times(median_of_strongest(part, data))}" for gpu, part in parts)
    found = [f"Median against the strongest of its own {len(data.baselines)} baselines: {medians}."]
    if len(fallen):
        first = fallen.iloc[0]
        found.append(
            f"From {FALLS_FROM:g}x or more against {eager} to {FALLS_TO:g}x or less against another baseline of the "
            f"same row: {rows_of(len(fallen))}; farthest: {place(first)}, {_fall(first, data)}."
        )
    bias = (
        f"The median against the strongest errs low: it takes the smallest of up to {len(data.baselines)} noisy ratios "
        "in each row. Against the second strongest of each row, or against the one baseline that is strongest over all "
        "rows, it errs high, since some row has a stronger one; the truth lies between.",
    )
    marks = tuple(mark(row, NAME, "hint", _fall(row, data)) for _, row in fallen.iterrows())
    named = _named(fallen.head(MOST_NAMED), data)
    return Answer(NAME, TITLE, tuple(found), bias, (table, *named), marks)


def strongest(rows: pd.DataFrame, data: Dataset) -> pd.Series:
    """Return each row's ratio to the baseline that was fastest for it."""
    return rows[data.ratios].min(axis=1)


def median_of_strongest(rows: pd.DataFrame, data: Dataset) -> float:
    """Return the median of those ratios."""
    return float(strongest(rows, data).median())


def median_interval(values: pd.Series) -> tuple[float, float]:
    """Return the 95 % interval of the median from order statistics (normal approximation of the binomial)."""
    ordered = np.sort(values.to_numpy())
    reach = 0.98 * math.sqrt(len(ordered))
    low, high = math.floor(len(ordered) / 2 - reach), math.ceil(len(ordered) / 2 + reach)
    return float(ordered[max(low, 0)]), float(ordered[min(high, len(ordered) - 1)])


def _row(gpu: str, rows: pd.DataFrame, data: Dataset) -> tuple[str, ...]:
    best = strongest(rows, data)
    low, high = median_interval(best)
    second = np.sort(rows[data.ratios].to_numpy(), axis=1)[:, 1]  # NaN sorts last: a row with one ratio has none
    fixed = rows[data.ratios].median()
    name = str(fixed.idxmin()).removeprefix(RATIO)
    return (
        gpu,
        f"{len(rows):,}",
        times(rows[data.headline].median()),
        times(best.median()),
        f"{times(low)} to {times(high)}",
        times(float(pd.Series(second).median())),
        f"{times(fixed.min())} ({name})",
        share((best < 1).sum(), len(best)),
    )


def _fallen(data: Dataset) -> pd.DataFrame:
    rows = data.scored
    best = strongest(rows, data)
    far = rows[(rows[data.headline] >= FALLS_FROM) & (best <= FALLS_TO)]
    order = (far[data.headline] / best[far.index]).sort_values(ascending=False, kind="stable").index
    return far.loc[order]


def _fall(row: pd.Series, data: Dataset) -> str:
    name = row[data.ratios].astype(float).idxmin()
    headline = f"{times(row[data.headline])} against {data.baselines[0]}"
    return f"{headline}, {times(row[name])} against {name.removeprefix(RATIO)}"


def _named(rows: pd.DataFrame, data: Dataset) -> tuple[Table, ...]:
    found = tuple(
        (place(row), *(times(row[name]) if row[name] == row[name] else "none" for name in data.ratios))
        for _, row in rows.iterrows()
    )
    caption = "Rows that fall farthest between two baselines of their own"
    return (
        (Table(caption, ("Row", *data.baselines), found, frozenset(range(1, len(data.baselines) + 1))),)
        if found
        else ()
    )
