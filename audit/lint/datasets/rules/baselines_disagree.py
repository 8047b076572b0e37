"""Do the baselines of one row contradict each other?

All of them run the same task on the same GPU. Where the slowest takes more than five times as long as the fastest, one
of them was mistimed, did other work or ran badly configured, and a ratio to it says little about the kernel.
"""

from __future__ import annotations

import pandas as pd

from audit.lint.datasets.answer import Answer, count, mark, not_asked, times
from audit.lint.datasets.dataset import RATIO, Dataset, place
from audit.report.view import Table

NAME = "baselines_disagree"
TITLE = "Baselines that contradict each other"
FACTOR = 5.0
MOST_NAMED = 8


def run(data: Dataset) -> Answer:
    """Return the rows per GPU that disagree, the baseline that stands apart, and the rows that disagree most."""
    if len(data.baselines) < 2:
        return not_asked(NAME, TITLE, f"one baseline only ({data.baselines[0]})")
    parts = [(gpu, rows[rows[data.ratios].notna().sum(axis=1) > 1]) for gpu, rows in data.by_gpu()]
    table = Table(
        f"Rows whose baselines differ by more than {FACTOR:g}x",
        ("GPU", "Rows with several baselines", "Contradicting", "Slowest most often", "Fastest most often"),
        tuple(_row(gpu, rows, data) for gpu, rows in parts),
        frozenset({1, 2}),
    )
    everything = pd.concat([rows for _, rows in parts]) if parts else data.scored
    far = everything[spread(everything, data) > FACTOR]
    far = far.loc[spread(far, data).sort_values(ascending=False, kind="stable").index]
    found = [", ".join(f"{gpu} {count(int((spread(rows, data) > FACTOR).sum()), len(rows))}" for gpu, rows in parts)]
    sentences = (f"Rows whose own baselines differ by more than {FACTOR:g}x: {found[0]}.",)
    bias = (
        "The spread of several noisy times grows with their number, but not to a factor of five; rows with fewer "
        "baselines have fewer chances to disagree.",
    )
    marks = tuple(mark(row, NAME, "hint", _described(row, data)) for _, row in far.iterrows())
    named = tuple(
        (place(row), times(_of(row, data)), _described(row, data)) for _, row in far.head(MOST_NAMED).iterrows()
    )
    shown = Table("Rows whose baselines differ most", ("Row", "Slowest / fastest", "Between"), named, frozenset({1}))
    return Answer(NAME, TITLE, sentences, bias, (table, shown) if named else (table,), marks)


def spread(rows: pd.DataFrame, data: Dataset) -> pd.Series:
    """Return slowest over fastest baseline time, row by row; all ratios of a row share one kernel time."""
    return rows[data.ratios].max(axis=1) / rows[data.ratios].min(axis=1)


def _of(row: pd.Series, data: Dataset) -> float:
    ratios = row[data.ratios].astype(float)
    return float(ratios.max() / ratios.min())


def _described(row: pd.Series, data: Dataset) -> str:
    ratios = row[data.ratios].astype(float)
    slow, fast = ratios.idxmax(), ratios.idxmin()
    return (
        f"{times(ratios[slow])} against {slow.removeprefix(RATIO)}, "
        f"{times(ratios[fast])} against {fast.removeprefix(RATIO)}"
    )


def _row(gpu: str, rows: pd.DataFrame, data: Dataset) -> tuple[str, ...]:
    far = rows[spread(rows, data) > FACTOR][data.ratios]
    slowest = far.idxmax(axis=1).value_counts()
    fastest = far.idxmin(axis=1).value_counts()
    return gpu, f"{len(rows):,}", count(len(far), len(rows)), _most(slowest), _most(fastest)


def _most(counts: pd.Series) -> str:
    return f"{str(counts.index[0]).removeprefix(RATIO)} ({counts.iloc[0]:,})" if len(counts) else "none"
