"""The figures a dataset is boiled down to, and how much of a mean rests on its largest rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

TOP_SHARE = 0.01
Ratios = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Aggregates:
    """What is left of so many ratios.

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


def of(ratios: Ratios) -> Aggregates:
    """The aggregates of positive ratios; at least one is needed."""
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
    """The places of the ratios that lift the mean most, largest first, until half of what is above the median is told.

    A mean is carried by few rows where this list is short.
    """
    order = np.argsort(-ratios, kind="stable")
    above = np.clip(ratios - np.median(ratios), 0, None)[order]
    enough = int(np.searchsorted(np.cumsum(above), above.sum() / 2)) + 1
    return [int(place) for place in order[: min(enough, most)]]
