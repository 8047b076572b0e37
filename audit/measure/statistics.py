"""Ratios of medians with their uncertainty: pure functions of raw samples and block numbers, derived, never stored.

The interval is a percentile block bootstrap: whole blocks are drawn with replacement, the same for both callables, so
that what a block's samples share (clock, heat, neighbours) is neither counted as independent nor held against the
ratio. See `docs/measurement.md` for rules and sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Literal

import numpy as np
import numpy.typing as npt

Word = Literal["faster", "slower", "same", "inconclusive"]
Floats = npt.NDArray[np.float64]

RESAMPLES = 1000
SEED = 20261121
"""Fixed, and drawn by numpy's frozen generator, so that an interval printed once is printed again."""
AT_ONCE = 1 << 20
"""Values of the resamples held in memory together."""
LEVEL = 0.95
LEAST_BLOCKS = 10
SAME = 0.02
"""Two times whose ratio is within this of one are called the same: address and alignment alone can give as much."""
WIDEST = 0.05
"""Relative half width past which a ratio is inconclusive whatever it is."""
FENCE = 3.0
"""An outlier lies this many interquartile ranges above the third quartile. It is shown and stays in."""


@dataclass(frozen=True)
class Series:
    """Raw samples of one callable in one session; `blocks` and `positions` are empty where nothing was interleaved."""

    samples_ms: tuple[float, ...]
    blocks: tuple[int, ...] = ()
    positions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Ratio:
    """Median time of the other over median time of ours: over 1, ours is faster.

    `low` and `high` bound the 95 % interval; None where there are too few common blocks for one.
    """

    value: float
    low: float | None
    high: float | None
    blocks: int

    @property
    def half_width(self) -> float | None:
        """Half the interval's width relative to the ratio; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / (2 * self.value)

    @property
    def doubt(self) -> str | None:
        """Why the samples cannot tell; None where they can."""
        width = self.half_width
        if width is None:
            return f"too few samples: {self.blocks} blocks of both, {LEAST_BLOCKS} are needed"
        if width > WIDEST:
            return f"the interval is wide: {100 * width:.1f} % either side of the ratio"
        return None

    @property
    def word(self) -> Word:
        """What the interval allows to say."""
        if self.doubt is not None or self.low is None or self.high is None:
            return "inconclusive"
        if self.low > 1 + SAME:
            return "faster"
        if self.high < 1 - SAME:
            return "slower"
        return "same" if self.low >= 1 - SAME and self.high <= 1 + SAME else "inconclusive"


@lru_cache(maxsize=4096)
def ratio(ours: Series, theirs: Series) -> Ratio:
    """The ratio of the two medians, with an interval from the blocks both have samples in."""
    value = median(theirs.samples_ms) / median(ours.samples_ms)
    common = sorted(set(ours.blocks) & set(theirs.blocks))
    if len(common) < LEAST_BLOCKS:
        return Ratio(value, None, None, len(common))
    counts = _draws(len(common))
    return Ratio(value, *_bounds(_medians(theirs, common, counts) / _medians(ours, common, counts)), len(common))


@lru_cache(maxsize=1024)
def interval(series: Series) -> tuple[float, float] | None:
    """The 95 % interval of the median itself, in milliseconds; None for too few blocks."""
    blocks = sorted(set(series.blocks))
    if len(blocks) < LEAST_BLOCKS:
        return None
    return _bounds(_medians(series, blocks, _draws(len(blocks))))


def order_effect(series: Series) -> float | None:
    """Relative difference between medians in the later and in the earlier half of the blocks' orders; None if untold.

    A callable whose time depends on what ran before it in a block shows here.
    """
    if not series.positions or len(set(series.positions)) < 2:
        return None
    middle = median(series.positions)
    pairs = list(zip(series.positions, series.samples_ms, strict=True))
    early = [sample for position, sample in pairs if position < middle]
    late = [sample for position, sample in pairs if position > middle]
    return median(late) / median(early) - 1 if early and late else None


def outliers(samples_ms: tuple[float, ...]) -> int:
    """How many samples lie far above the others; they stay in, and the median does not mind them."""
    first, third = np.percentile(samples_ms, [25, 75])
    return sum(sample > third + FENCE * (third - first) for sample in samples_ms)


@lru_cache(maxsize=64)
def _draws(blocks: int) -> npt.NDArray[np.int32]:
    """How often each block is drawn in each resample: (RESAMPLES, blocks), rows sum to `blocks`."""
    drawn = np.random.RandomState(SEED).randint(0, blocks, size=(RESAMPLES, blocks))
    counts = np.zeros((RESAMPLES, blocks), dtype=np.int32)
    np.add.at(counts, (np.arange(RESAMPLES)[:, None], drawn), 1)
    return counts


def _bounds(resampled: Floats) -> tuple[float, float]:
    tail = 50 * (1 - LEVEL)
    low, high = np.percentile(resampled, [tail, 100 - tail])
    return float(low), float(high)


def _medians(series: Series, blocks: list[int], counts: npt.NDArray[np.int32]) -> Floats:
    """The median of each resample, each sample counting as often as its block was drawn."""
    place = {block: index for index, block in enumerate(blocks)}
    pairs = [(ms, place[b]) for ms, b in zip(series.samples_ms, series.blocks, strict=True) if b in place]
    ordered = sorted(pairs)
    values, indices = np.array([ms for ms, _ in ordered]), [index for _, index in ordered]
    step = max(1, AT_ONCE // max(1, len(ordered)))
    parts = [_weighted(values, counts[first : first + step, indices]) for first in range(0, len(counts), step)]
    return np.concatenate(parts)


def _weighted(values: Floats, counts: npt.NDArray[np.int32]) -> Floats:
    """The median of ordered values for each row of counts."""
    reached = np.cumsum(counts, axis=1, dtype=np.int32)
    half = reached[:, -1:] / 2
    lower = values[np.argmax(reached >= half, axis=1)]
    upper = values[np.argmax(reached > half, axis=1)]
    medians: Floats = (lower + upper) / 2
    return medians
