"""Does a speedup on one GPU hold on another?

Compared are tasks scored on every GPU, so that no GPU's figure speaks of easier tasks than another's. Whether the code
is the same on each is said where the dataset holds it.
"""

from __future__ import annotations

import pandas as pd

from audit.lint.datasets.answer import Answer, not_asked, times
from audit.lint.datasets.dataset import Dataset
from audit.report.view import Table

NAME = "portability"
TITLE = "From GPU to GPU"
FASTER = 1.1
MOST_NAMED = 6


def run(data: Dataset) -> Answer:
    """Medians over the common tasks, rank correlations, and the tasks that differ most."""
    gpus = list(data.frame["gpu"].unique())
    if len(gpus) < 2:
        return not_asked(NAME, TITLE, "one GPU only")
    pivot = data.scored.pivot_table(index=["level", "task"], columns="gpu", values=data.headline, aggfunc="median")
    common = pivot.dropna().reindex(columns=gpus)
    if len(common) < 2:
        return not_asked(NAME, TITLE, "fewer than two tasks are scored on every GPU")
    spread = (common.max(axis=1) / common.min(axis=1)).sort_values(ascending=False, kind="stable")
    every, some = (common > FASTER).all(axis=1).sum(), (common > FASTER).any(axis=1).sum()
    ranks = common.rank().corr()
    lowest = min((float(ranks.loc[a, b]), a, b) for a in gpus for b in gpus if a != b)
    sentences = (
        f"{len(common):,} of {len(pivot):,} tasks are scored on all {len(gpus)} GPUs; of these {every:,} are more than "
        f"{FASTER:g}x on every one and {some:,} on at least one.",
        f"Lowest rank correlation: {lowest[0]:.2f} between {lowest[1]} and {lowest[2]}.",
        _code(data),
    )
    bias = (
        "Tasks scored on every GPU are those that worked everywhere: their figures err high against all tasks.",
        "A ratio speaks of the GPU it was taken on and of no other; wrong results carry over, speed does not.",
    )
    tables = (_medians(common, data), _ranks(ranks), _farthest(common.loc[spread.index[:MOST_NAMED]], spread))
    return Answer(NAME, TITLE, sentences, bias, tables)


def _medians(common: pd.DataFrame, data: Dataset) -> Table:
    rows = tuple(
        (str(gpu), f"{int((data.scored['gpu'] == gpu).sum()):,}", times(common[gpu].median()),
         f"{int((common[gpu] > FASTER).sum()):,} of {len(common):,}")
        for gpu in common
    )  # fmt: skip
    columns = ("GPU", "Scored tasks", "Median over the common tasks (errs high)", f"Over {FASTER:g}x")
    return Table("The tasks scored on every GPU", columns, rows, frozenset({1, 2, 3}))


def _ranks(ranks: pd.DataFrame) -> Table:
    rows = tuple((str(gpu), *(f"{ranks.loc[gpu, other]:.2f}" for other in ranks)) for gpu in ranks)
    columns = ("Rank correlation", *map(str, ranks))
    return Table("How alike the order of the tasks is", columns, rows, frozenset(range(1, len(columns))))


def _farthest(rows: pd.DataFrame, spread: pd.Series) -> Table:
    found = tuple(
        (f"level {place[0]}, task {place[1]}", *(times(value) for value in row), times(spread[place]))
        for place, row in rows.iterrows()
    )
    columns = ("Task", *map(str, rows), "Largest / smallest")
    return Table("Tasks that differ most from GPU to GPU", columns, found, frozenset(range(1, len(columns))))


def _code(data: Dataset) -> str:
    coded = data.scored[data.scored["digest"] != ""]
    if coded.empty:
        return "The rows hold no code, so whether one kernel ran on every GPU is not known here."
    kinds = coded.groupby(["level", "task"])["digest"].nunique()
    gpus = coded.groupby(["level", "task"])["gpu"].nunique()
    several = kinds[gpus > 1]
    return f"{int((several == 1).sum()):,} of {len(several):,} tasks have the same code on every GPU."
