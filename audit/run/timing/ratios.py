"""The ratio of two callables with its uncertainty: one estimator, for stopping a session and for reporting.

The estimate is the median of the ratios of single blocks: the influences that callables share in a block (clock,
temperature, other load) cancel. The interval is between two of these ratios by rank, as in the sign test: it assumes no
form of noise and holds for few blocks too. `docs/measurement.md` has rules and sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import comb
from statistics import median
from typing import Literal

from audit.model import Measurement

Word = Literal["faster", "slower", "same", "inconclusive"]
LEVEL = 0.965
"""The coverage of an interval by rank after a fixed number of blocks. A session that stops at a narrow interval stops
more often where it is narrow by chance, which costs up to 2 points: `bench/coverage.py` finds 94 to 97 %."""
LEAST_BLOCKS = 10
LEAST_MS = 1e-6
"""A nanosecond, which stands for a time of zero; events resolve half a microsecond."""
SAME = 0.02
"""Times whose ratio is this close to one are called the same: addresses and alignment alone can cause as much."""
WIDEST = 0.05
"""The relative half width above which a ratio is inconclusive."""


@dataclass
class Samples:
    """Milliseconds, each with its block and the callable's position in the order of that block."""

    samples_ms: list[float] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    def add(self, times_ms: list[float], *, block: int, position: int) -> None:
        """Add samples of one block."""
        self.samples_ms += times_ms
        self.blocks += [block] * len(times_ms)
        self.positions += [position] * len(times_ms)


@dataclass(frozen=True)
class Ratio:
    """Their time over ours: above 1, ours is faster.

    `low` and `high` bound the 95 % interval; None where there are too few common blocks for one.
    """

    value: float
    low: float | None
    high: float | None
    blocks: int
    equal: bool = False
    """Whether all samples of one of the two are the same number."""
    processes: int = 1

    @property
    def half_width(self) -> float | None:
        """Half the interval's width relative to the ratio; None without an interval."""
        return None if self.low is None or self.high is None else (self.high - self.low) / (2 * self.value)

    @property
    def doubt(self) -> str | None:
        """Why the ratio is inconclusive whatever it is; None where it is not."""
        width = self.half_width
        if width is None:
            return f"too few blocks with samples of both: {self.blocks}, and {LEAST_BLOCKS} are needed"
        if self.equal:
            return "all samples of one of the two are equal: no clock is that steady, or it is too coarse"
        if width > WIDEST:
            return f"the interval is wide: {100 * width:.1f} % either side of the ratio"
        return None

    @property
    def word(self) -> Word:
        """The conclusion that the interval allows."""
        if self.doubt is not None or self.low is None or self.high is None:
            return "inconclusive"
        if self.low > 1 + SAME:
            return "faster"
        if self.high < 1 - SAME:
            return "slower"
        return "same" if self.low >= 1 - SAME and self.high <= 1 + SAME else "inconclusive"


def ratio(ours: Samples | Measurement, theirs: Samples | Measurement) -> Ratio:
    """Return the median ratio of the blocks with samples of both; without such blocks the ratio of the medians."""
    top, bottom = _by_block(theirs), _by_block(ours)
    paired = [top[block] / bottom[block] for block in bottom if block in top]
    if not paired:
        return Ratio(max(median(theirs.samples_ms), LEAST_MS) / max(median(ours.samples_ms), LEAST_MS), None, None, 0)
    low, high = _bounds(paired)
    equal = any(len(set(timing.samples_ms)) == 1 for timing in (ours, theirs))
    return Ratio(median(paired), low, high, len(paired), equal)


def pooled(ratios: Sequence[Ratio]) -> Ratio:
    """Return the median of the ratios of several processes, between the least and the greatest of them.

    What a process decides once (placement, alignment) is in the interval of no single one. That between the ratios of
    six holds the median of all processes in 31 of 32 cases, whatever their distribution.
    """
    values, blocks = [one.value for one in ratios], sum(one.blocks for one in ratios)
    return Ratio(median(values), min(values), max(values), blocks, any(one.equal for one in ratios), len(ratios))


def interval(timing: Samples | Measurement) -> tuple[float, float] | None:
    """Return the 95 % interval of a time, from the medians of its blocks, in milliseconds; None for too few blocks."""
    low, high = _bounds(list(_by_block(timing).values()))
    return None if low is None or high is None else (low, high)


def _by_block(timing: Samples | Measurement) -> dict[int, float]:
    """Return the median of each block, at least LEAST_MS."""
    grouped: dict[int, list[float]] = {}
    for block, sample in zip(timing.blocks, timing.samples_ms, strict=False):
        grouped.setdefault(block, []).append(sample)
    return {block: max(median(samples), LEAST_MS) for block, samples in grouped.items()}


def _bounds(values: Sequence[float]) -> tuple[float, float] | tuple[None, None]:
    """Return the interval of the median of the distribution of such values."""
    if len(values) < LEAST_BLOCKS:
        return None, None
    ordered = sorted(values)
    outer, inward = _ranks(len(ordered))
    (low, next_low), (high, next_high) = ordered[outer - 1 : outer + 1], ordered[-outer : -outer - 2 : -1]
    return low + inward * (next_low - low), high + inward * (next_high - high)


@lru_cache(maxsize=1024)
def _ranks(count: int) -> tuple[int, float]:
    """Return the rank from either end that covers `LEVEL` or more, and the fraction to interpolate to the next rank.

    The interpolation is that of Hettmansperger and Sheather (1986).
    """
    covered = list(_covered(count))
    outer = max((rank for rank, share in enumerate(covered, 1) if share >= LEVEL), default=1)
    if outer == len(covered) or covered[outer - 1] < LEVEL:
        return outer, 0.0
    share = (covered[outer - 1] - LEVEL) / (covered[outer - 1] - covered[outer])
    return outer, (count - outer) * share / (outer + (count - 2 * outer) * share)


def _covered(count: int) -> Iterator[float]:
    """Yield the probability that the median is between the values of rank 1, 2, ... from either end."""
    outside = 0
    for rank in range(1, count // 2 + 1):
        outside += comb(count, rank - 1)
        yield 1 - outside / 2 ** (count - 1)
