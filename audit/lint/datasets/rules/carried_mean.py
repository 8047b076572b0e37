"""Does the headline mean speak of the dataset, or of a few of its rows?

A mean of ratios has no upper bound: one row may lift it as much as all others together. Beside it stand the median,
the geometric mean, the mean without its largest row, and the share owed to the largest 1 % of the rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.lint.datasets.answer import Answer, mark, share, times
from audit.lint.datasets.dataset import Dataset, place
from audit.lint.datasets.rules.strongest_baseline import strongest
from audit.report.view import Table

NAME = "carried_mean"
TITLE = "What carries the headline mean"
MOST_CARRIERS = 8
TOP_SHARE = 0.01
Ratios = npt.NDArray[np.float64]


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


def run(data: Dataset) -> Answer:
    """Return the aggregates per GPU, and the rows that carry each mean by name."""
    parts = data.by_gpu()
    known = {gpu: aggregates(rows[data.headline].to_numpy()) for gpu, rows in parts}
    columns = ("GPU", "Rows", "Mean (errs high)", "Median", "Geometric mean", "Largest", "Mean without the largest",
               "Largest 1 %", "Their share of the mean")  # fmt: skip
    table = Table(f"Ratios against {data.baselines[0]}", columns,
                  tuple(_row(gpu, one) for gpu, one in known.items()), frozenset(range(1, 9)))  # fmt: skip
    carrying = [(gpu, row) for gpu, rows in parts for _, row in _carriers(rows, data).iterrows()]
    named = tuple(_carrier(row, known[gpu], data) for gpu, row in carrying)
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
    marks = tuple(mark(row, NAME, "hint", _carried(row, known[gpu], data)) for gpu, row in carrying)
    return Answer(NAME, TITLE, sentences, bias, (table, shown), marks)


def _row(gpu: str, one: Aggregates) -> tuple[str, ...]:
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


def _carriers(rows: pd.DataFrame, data: Dataset) -> pd.DataFrame:
    return rows.iloc[carriers(rows[data.headline].to_numpy(), most=MOST_CARRIERS)]


def _carrier(row: pd.Series, one: Aggregates, data: Dataset) -> tuple[str, ...]:
    least = float(np.nanmin(row[data.ratios].astype(float)))
    return place(row), times(row[data.headline]), share(row[data.headline] / (one.mean * one.rows)), times(least)


def _carried(row: pd.Series, one: Aggregates, data: Dataset) -> str:
    part = share(row[data.headline] / (one.mean * one.rows))
    return f"{times(row[data.headline])} is {part} of the mean of {one.rows:,} rows"


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
