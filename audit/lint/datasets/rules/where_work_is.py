"""Does the ratio hold where most of the work is?

A mean over rows counts a product of microseconds as much as one of milliseconds. Rows are put in order by the least
work of their task, and split where half of all work is reached: what a user who runs every task once would notice is
decided by the few rows above the split.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from audit.lint.datasets.answer import Answer, not_asked, times
from audit.lint.datasets.dataset import Dataset
from audit.lint.datasets.rules.strongest_baseline import strongest
from audit.report.view import Table

NAME = "where_work_is"
TITLE = "Where the work is"
LEAST_ROWS = 20


def run(data: Dataset) -> Answer:
    """Return, for each GPU and level, the ratios of the rows that hold half of the work beside those of the others."""
    scored = data.scored[data.scored["flops"].notna()]
    parts = [(key, part) for key, part in scored.groupby(["gpu", "level"], sort=False) if len(part) >= LEAST_ROWS]
    if not parts:
        return not_asked(NAME, TITLE, f"no GPU has {LEAST_ROWS} rows of known work")
    rows, shares = [], []
    for (gpu, level), part in parts:
        heavy = heaviest_half(part["flops"])
        inside, outside = (_geometric(strongest(part[chosen], data)) for chosen in (heavy, ~heavy))
        weighted = float((strongest(part, data) * part["flops"]).sum() / part["flops"].sum())
        held = (f"{heavy.sum():,} of {len(part):,}", times(_geometric(part.loc[heavy, data.headline])))
        rows.append((str(gpu), str(level), *held, times(inside), times(outside), times(weighted)))
        name = ", ".join(filter(None, (str(gpu), str(level))))
        shares.append(f"{name}: {held[0]} rows, {times(inside)} (the others {times(outside)})")
    sentence = f"Rows that hold half of the work, and their geometric mean against the strongest: {'; '.join(shares)}."
    columns = ("GPU", "Level", "Rows with half of the work", f"There against {data.baselines[0]}",
               "There against the strongest (errs low)", "Other rows against the strongest (errs low)",
               "All rows against the strongest, weighted by work")  # fmt: skip
    table = Table("Geometric means of ratios, by the work of the rows", columns, tuple(rows), frozenset(range(2, 7)))
    bias = (
        "Work stands for time, which the rows do not give alike: a small task takes longer than its share of the work "
        "says, so the weight of large tasks errs high. The smallest of several noisy ratios errs low.",
    )
    return Answer(NAME, TITLE, (sentence,), bias, (table,))


def heaviest_half(work: pd.Series) -> pd.Series:
    """Return which rows are the fewest that hold half of all work together."""
    order = work.sort_values(ascending=False, kind="stable")
    enough = int(np.searchsorted(order.cumsum().to_numpy(), order.sum() / 2)) + 1
    return pd.Series(work.index.isin(order.index[:enough]), index=work.index)


def _geometric(ratios: pd.Series) -> float:
    return float(np.exp(np.log(ratios.dropna().astype(float)).mean())) if len(ratios.dropna()) else float("nan")
