"""Rules about the baselines that a dataset publishes, against each other and against the rows' own times."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from audit.lint.datasets.answer import Answer, count, mark, not_asked, rows_of, rule, share, times, unless_empty
from audit.lint.datasets.dataset import RATIO, TIME, Dataset, place
from audit.report.messages import number
from audit.report.view import Table

FALLS_FROM, FALLS_TO = 2.0, 1.3
MOST_FALLEN = 5
FACTOR = 5.0
MOST_NAMED = 8
ROUNDED = 0.02
"""Stated figures are rounded; a ratio that is off by more is none of the times beside it."""
THOUSAND = (500.0, 2000.0)
MOST_OFF = 8


@rule("Against the strongest of its own baselines")
def strongest_baseline(data: Dataset) -> Answer:
    """How much of the speedup is left against the strongest baseline the dataset itself publishes?

    Each row is held against the baseline that was fastest for that row, hence against its smallest ratio. That
    smallest of several noisy ratios errs low, so two figures that do not choose row by row stand beside it: the
    second smallest, and the one baseline that is strongest over all rows.
    """
    if len(data.baselines) < 2:
        return not_asked(f"one baseline only ({data.baselines[0]})")
    parts = data.by_gpu()
    rows = tuple(_medians(gpu, part, data) for gpu, part in parts)
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
    marks = tuple(mark(row, "hint", _fall(row, data)) for _, row in fallen.iterrows())
    named = _named(fallen.head(MOST_FALLEN), data)
    return Answer(tuple(found), bias, (table, *named), marks)


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


def _medians(gpu: str, rows: pd.DataFrame, data: Dataset) -> tuple[str, ...]:
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
    return unless_empty(Table(caption, ("Row", *data.baselines), found, frozenset(range(1, len(data.baselines) + 1))))


@rule("Baselines that contradict each other")
def baselines_disagree(data: Dataset) -> Answer:
    """Do the baselines of one row contradict each other?

    All of them run the same task on the same GPU. Where the slowest takes more than five times as long as the
    fastest, one of them was mistimed, did other work or ran badly configured, and a ratio to it says little about the
    kernel.
    """
    if len(data.baselines) < 2:
        return not_asked(f"one baseline only ({data.baselines[0]})")
    parts = [(gpu, rows[rows[data.ratios].notna().sum(axis=1) > 1]) for gpu, rows in data.by_gpu()]
    columns = ("GPU", "Rows with several baselines", "Contradicting", "Slowest most often", "Fastest most often")
    counted = tuple(_contradictions(gpu, rows, data) for gpu, rows in parts)
    table = Table(f"Rows whose baselines differ by more than {FACTOR:g}x", columns, counted, frozenset({1, 2}))
    everything = pd.concat([rows for _, rows in parts]) if parts else data.scored
    apart = spread(everything, data).sort_values(ascending=False, kind="stable")
    far = everything.loc[apart[apart > FACTOR].index]
    found = ", ".join(f"{row[0]} {row[2]}" for row in counted)
    sentences = (f"Rows whose own baselines differ by more than {FACTOR:g}x: {found}.",)
    bias = (
        "The spread of several noisy times grows with their number, but not to a factor of five; rows with fewer "
        "baselines have fewer chances to disagree.",
    )
    marks = tuple(mark(row, "hint", _extremes(row, data)) for _, row in far.iterrows())
    named = tuple((place(row), times(apart[at]), _extremes(row, data)) for at, row in far.head(MOST_NAMED).iterrows())
    shown = Table("Rows whose baselines differ most", ("Row", "Slowest / fastest", "Between"), named, frozenset({1}))
    return Answer(sentences, bias, (table, *unless_empty(shown)), marks)


def spread(rows: pd.DataFrame, data: Dataset) -> pd.Series:
    """Return slowest over fastest baseline time, row by row; all ratios of a row share one kernel time."""
    return rows[data.ratios].max(axis=1) / rows[data.ratios].min(axis=1)


def _extremes(row: pd.Series, data: Dataset) -> str:
    ratios = row[data.ratios].astype(float)
    slow, fast = ratios.idxmax(), ratios.idxmin()
    return (
        f"{times(ratios[slow])} against {slow.removeprefix(RATIO)}, "
        f"{times(ratios[fast])} against {fast.removeprefix(RATIO)}"
    )


def _contradictions(gpu: str, rows: pd.DataFrame, data: Dataset) -> tuple[str, ...]:
    far = rows[spread(rows, data) > FACTOR][data.ratios]
    slowest = far.idxmax(axis=1).value_counts()
    fastest = far.idxmin(axis=1).value_counts()
    return gpu, f"{len(rows):,}", count(len(far), len(rows)), _most(slowest), _most(fastest)


def _most(counts: pd.Series) -> str:
    return f"{str(counts.index[0]).removeprefix(RATIO)} ({counts.iloc[0]:,})" if len(counts) else "none"


@rule("Stated ratios against stated times")
def own_arithmetic(data: Dataset) -> Answer:
    """Are the stated ratios the quotients of the stated times?

    A quotient off by about a thousand is two units in one row, milliseconds beside microseconds.
    """
    names = [name for name in data.baselines if TIME + name in data.frame]
    if not names:
        return not_asked("no times are published beside the ratios")
    asked, apart = 0, []
    for name in names:
        rows = data.frame[data.frame[[TIME + name, "kernel_time", RATIO + name]].notna().all(axis=1)]
        asked += len(rows)
        quotient = rows[TIME + name] / rows["kernel_time"]
        off = rows[~((rows[RATIO + name] / quotient - 1).abs() <= ROUNDED) | _thousand(quotient)]
        apart += [(row, name) for _, row in off.iterrows()]
    sentences = (
        f"{count(len(apart), asked)} of the ratios with both times are not their quotient or hint at two units.",
    )
    described = tuple((place(row), name, _stated_and_quotient(row, name)) for row, name in apart[:MOST_OFF])
    table = Table("Ratios apart from their times", ("Row", "Baseline", "What it says"), described)
    marks = tuple(mark(row, "hint", f"{name}: {_stated_and_quotient(row, name)}") for row, name in apart)
    return Answer(sentences, (), unless_empty(table), marks)


def _thousand(quotient: pd.Series) -> pd.Series:
    low, high = THOUSAND
    return quotient.between(low, high) | (1 / quotient).between(low, high)


def _stated_and_quotient(row: pd.Series, name: str) -> str:
    quotient = row[TIME + name] / row["kernel_time"]
    unit = "; about a thousand: ms beside µs?" if bool(_thousand(pd.Series([quotient])).iloc[0]) else ""
    both = f"{number(float(row[TIME + name]))} / {number(float(row['kernel_time']))}"
    return f"stated {times(row[RATIO + name])}, times give {both} = {times(quotient)}{unit}"
