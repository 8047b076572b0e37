"""Rules about the figures that summarise a dataset: means, levels, best kernels, published ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.lint.datasets.answer import Answer, mark, not_asked, rule, share, times
from audit.lint.datasets.dataset import RATIO, Dataset, Published, place
from audit.lint.datasets.rules.baselines import strongest
from audit.report.view import Table

LEAST_ROWS = 20
MOST_CARRIERS = 8
TOP_SHARE = 0.01
Ratios = npt.NDArray[np.float64]
CLOSE = 0.02
"""A figure that differs by more is said to differ; rounding to two places moves none by that much."""
STATISTICS: dict[str, Callable[[pd.Series], float]] = {
    "mean": pd.Series.mean,
    "median": pd.Series.median,
    "maximum": pd.Series.max,
    "upper quartile": lambda ratios: ratios.quantile(0.75),
    "rows": len,
}
TASK = ["gpu", "level", "task"]


@dataclass(frozen=True)
class Aggregates:
    """Summary figures of many ratios.

    `without_largest` is the mean after the largest ratio is left out (None for a single ratio), `top` how many rows
    make the top 1 % (one at least) and `top_share` their share of the sum, hence of the mean.
    """

    rows: int
    mean: float
    median: float
    geometric_mean: float
    largest: float
    without_largest: float | None
    top: int
    top_share: float


@rule("What carries the headline mean")
def carried_mean(data: Dataset) -> Answer:
    """Does the headline mean speak of the dataset, or of a few of its rows?

    A mean of ratios has no upper bound: one row may lift it as much as all others together. Beside it stand the
    median, the geometric mean, the mean without its largest row, and the share owed to the largest 1 % of the rows.
    """
    parts = data.by_gpu()
    known = {gpu: aggregates(rows[data.headline].to_numpy()) for gpu, rows in parts}
    columns = ("GPU", "Rows", "Mean (errs high)", "Median", "Geometric mean", "Largest", "Mean without the largest",
               "Largest 1 %", "Their share of the mean")  # fmt: skip
    table = Table(f"Ratios against {data.baselines[0]}", columns,
                  tuple(_summary(gpu, one) for gpu, one in known.items()), frozenset(range(1, 9)))  # fmt: skip
    carrying = [
        (gpu, rows.iloc[place])
        for gpu, rows in parts
        for place in carriers(rows[data.headline].to_numpy(), most=MOST_CARRIERS)
    ]
    held = [_carried(row, known[gpu], data) for gpu, row in carrying]
    least = [float(np.nanmin(row[data.ratios].astype(float))) for _, row in carrying]
    named = tuple((place(row), *one, times(low)) for (_, row), one, low in zip(carrying, held, least, strict=True))
    shown = Table(
        "The rows that carry each mean: together they hold half of what lies above the median",
        ("Row", f"Against {data.baselines[0]}", "Share of the mean", "Against the strongest own baseline"),
        named,
        frozenset({1, 2, 3}),
    )
    owed = ", ".join(f"{gpu} {share(one.top_share)}" for gpu, one in known.items())
    sentences = (
        f"Share of the mean that the largest 1 % of the rows hold: {owed}.",
        *(_sentence(gpu, rows, known[gpu], data) for gpu, rows in parts),
    )
    bias = (
        "The mean of ratios errs high as a summary: 10x and 0.1x average to 5x, though they cancel. The geometric mean "
        "takes both alike; the median does not move with a few rows.",
    )
    marks = tuple(
        mark(row, "hint", f"{ratio} is {part} of the mean of {known[gpu].rows:,} rows")
        for (gpu, row), (ratio, part) in zip(carrying, held, strict=True)
    )
    return Answer(sentences, bias, (table, shown), marks)


def _summary(gpu: str, one: Aggregates) -> tuple[str, ...]:
    return (
        gpu,
        f"{one.rows:,}",
        times(one.mean),
        times(one.median),
        times(one.geometric_mean),
        times(one.largest),
        "none" if one.without_largest is None else times(one.without_largest),
        f"{one.top} row{'s' * (one.top > 1)}",
        share(one.top_share),
    )


def _carried(row: pd.Series, one: Aggregates, data: Dataset) -> tuple[str, str]:
    """Return the ratio of a row, and its share of the mean."""
    return times(row[data.headline]), share(row[data.headline] / (one.mean * one.rows))


def _sentence(gpu: str, rows: pd.DataFrame, one: Aggregates, data: Dataset) -> str:
    largest = rows.loc[rows[data.headline].idxmax()]
    least = float(strongest(rows.loc[[largest.name]], data).iloc[0])
    own = f", {times(least)} against its strongest own baseline" if len(data.baselines) > 1 else ""
    without = "" if one.without_largest is None else f"; without its largest row {times(one.without_largest)}"
    where = place(largest).removeprefix(f"{gpu}, ")
    return (
        f"{gpu}: mean {times(one.mean)}, median {times(one.median)}, geometric mean {times(one.geometric_mean)}"
        f"{without}. Largest: {where} ({times(one.largest)}{own})."
    )


def aggregates(ratios: Ratios) -> Aggregates:
    """Return the aggregates of positive ratios; at least one is needed."""
    ordered = np.sort(ratios)[::-1]
    count, total = len(ordered), float(ordered.sum())
    top = max(1, round(TOP_SHARE * count))
    return Aggregates(
        rows=count,
        mean=total / count,
        median=float(np.median(ordered)),
        geometric_mean=float(np.exp(np.log(ordered).mean())),
        largest=float(ordered[0]),
        without_largest=(total - float(ordered[0])) / (count - 1) if count > 1 else None,
        top=top,
        top_share=float(ordered[:top].sum()) / total,
    )


def carriers(ratios: Ratios, *, most: int) -> list[int]:
    """Return the places of the largest ratios, in order, until they hold half of the sum above the median.

    A mean is carried by few rows where this list is short.
    """
    order = np.argsort(-ratios, kind="stable")
    above = np.clip(ratios - np.median(ratios), 0, None)[order]
    enough = int(np.searchsorted(np.cumsum(above), above.sum() / 2)) + 1
    return [int(place) for place in order[: min(enough, most)]]


@rule("Figures published about it")
def published(data: Dataset) -> Answer:
    """Do the figures published about the dataset come out of the dataset?"""
    if not data.about.published:
        return not_asked("no dataset.toml beside the rows names a published figure")
    found = [(one, _ours(one, data)) for one in data.about.published]
    rows = tuple(_compared(one, ours) for one, ours in found)
    columns = ("GPU", "Level", "Baseline", "Statistic", "Published", "In these rows", "Reading")
    table = Table("Published figures and what the rows give", columns, rows, frozenset({4, 5}))
    apart = sum(row[-1] != "the same" for row in rows)
    sentence = (
        f"Published figures that are not what these rows give (counts exactly, ratios to 2 %): {apart} of {len(rows)}."
    )
    bias = ("A release may have been updated after its figures were published; the rows here are those of the file.",)
    return Answer((sentence,), bias, (table,))


def _ours(one: Published, data: Dataset) -> float | None:
    column = RATIO + (one.baseline or data.baselines[0])
    if column not in data.frame:
        return None
    rows = data.scored[(data.scored["gpu"] == one.gpu) & (data.scored["level"].isin([one.level]) | (one.level == ""))]
    ratios = rows[column].dropna()
    return float(STATISTICS[one.statistic](ratios)) if len(ratios) else None


def _compared(one: Published, ours: float | None) -> tuple[str, ...]:
    head = (one.gpu, one.level or "all", one.baseline or "the headline's", one.statistic)
    result = (lambda value: f"{value:,.0f}") if one.statistic == "rows" else times
    if ours is None:
        return (*head, result(one.value), "none", "no such rows")
    close = abs(ours - one.value) <= (0 if one.statistic == "rows" else CLOSE) * one.value
    reading = "the same" if close else "higher in the file" if ours > one.value else "lower in the file"
    return (*head, result(one.value), result(ours), reading)


@rule("The best of many kernels")
def best_of_many(data: Dataset) -> Answer:
    """Where many kernels were tried for a task, is the published one the luckiest?

    The largest of many noisy ratios errs high even if all kernels were equally fast.
    """
    tasks = data.scored[data.scored["task"] != ""].groupby(TASK, sort=False)[data.headline]
    known = tasks.agg(["size", "max", "median"]).reset_index()
    if known.empty or known["size"].max() < 2:
        return not_asked("no task has more than one scored kernel")
    rows = tuple(
        (
            str(gpu),
            f"{len(part):,}",
            f"{part['size'].median():,.0f}",
            times(part["max"].median()),
            times(part["median"].median()),
            share((part["max"] > 1).sum(), len(part)),
            share((part["median"] > 1).sum(), len(part)),
        )
        for gpu, part in known.groupby("gpu", sort=False)
    )
    columns = ("GPU", "Tasks", "Kernels a task (median)", "Best kernel, median over tasks (errs high)",
               "Middle kernel, median over tasks", "Tasks whose best is faster",
               "Tasks whose middle one is faster")  # fmt: skip
    text = "; ".join(f"{row[0]}: best {row[3]}, middle {row[4]}" for row in rows)
    bias = (
        "The best of many noisy ratios errs high, the more the larger their number; times taken again for the chosen "
        "kernel alone would tell by how much.",
    )
    sentence = f"Median over tasks against {data.baselines[0]}: {text}."
    return Answer((sentence,), bias, (Table("Best and middle kernel", columns, rows, frozenset(range(1, 7))),))


@rule("Level by level")
def levels(data: Dataset) -> Answer:
    """What do the levels of the benchmark say one by one? A mean over levels hides which of them it comes from."""
    scored = data.scored[data.scored["level"] != ""]
    if scored["level"].nunique() < 2:
        return not_asked("fewer than two levels are named")
    rows = []
    for (gpu, level), part in scored.groupby(["gpu", "level"], sort=False):
        one, best = aggregates(part[data.headline].to_numpy()), strongest(part, data)
        rows.append(
            (str(gpu), str(level), f"{one.rows:,}", times(one.mean), times(one.median), times(one.geometric_mean),
             times(best.median()), share((best < 1).sum(), len(best)))
        )  # fmt: skip
    columns = ("GPU", "Level", "Rows", "Mean (errs high)", "Median", "Geometric mean",
               "Median against the strongest (errs low)", "Slower than the strongest")  # fmt: skip
    table = Table(f"Ratios against {data.baselines[0]}, level by level", columns, tuple(rows), frozenset(range(2, 8)))
    shown = max(rows, key=lambda row: float(row[3].replace(",", "").rstrip("x")))
    sentence = f"Highest mean: {shown[0]}, level {shown[1]}: {shown[3]}, with a median of {shown[4]}."
    return Answer((sentence,), ("Rows of unequal number stand behind each level; few rows move far.",), (table,))


@rule("Where the work is")
def where_work_is(data: Dataset) -> Answer:
    """Does the ratio hold where most of the work is?

    A mean over rows counts a product of microseconds as much as one of milliseconds. Rows are put in order by the
    least work of their task, and split where half of all work is reached: what a user who runs every task once would
    notice is decided by the few rows above the split.
    """
    scored = data.scored[data.scored["flops"].notna()]
    parts = [(key, part) for key, part in scored.groupby(["gpu", "level"], sort=False) if len(part) >= LEAST_ROWS]
    if not parts:
        return not_asked(f"no GPU has {LEAST_ROWS} rows of known work")
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
    return Answer((sentence,), bias, (table,))


def heaviest_half(work: pd.Series) -> pd.Series:
    """Return which rows are the fewest that hold half of all work together."""
    order = work.sort_values(ascending=False, kind="stable")
    enough = int(np.searchsorted(order.cumsum().to_numpy(), order.sum() / 2)) + 1
    return pd.Series(work.index.isin(order.index[:enough]), index=work.index)


def _geometric(ratios: pd.Series) -> float:
    return float(np.exp(np.log(ratios.dropna().astype(float)).mean())) if len(ratios.dropna()) else float("nan")
