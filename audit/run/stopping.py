"""When a timing session has seen enough: pure arithmetic on block medians, while the samples come in.

This decides only when to stop. What is reported is derived from the stored samples, by `audit.measure.statistics`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

NORMAL_95 = 1.96
MEDIAN_COST = 1.2533
"""A median's standard error over a mean's for normal noise, sqrt(pi / 2)."""
MAD_TO_SIGMA = 1.4826
"""A normal distribution's standard deviation over its median absolute deviation."""


def half_width(ours: Sequence[float], theirs: Sequence[float]) -> float:
    """Relative half width of a 95 % interval of the ratio of two callables; infinite for fewer than three blocks.

    Args:
        ours: the medians of one callable, block by block.
        theirs: the medians of the other in the same blocks.
    """
    logs = [math.log(top / bottom) for top, bottom in zip(theirs, ours, strict=True)]
    if len(logs) < 3:
        return math.inf
    middle = median(logs)
    spread = MAD_TO_SIGMA * median(abs(one - middle) for one in logs)
    return NORMAL_95 * MEDIAN_COST * spread / math.sqrt(len(logs))


def settled(recent: Sequence[float], *, group: int, tolerance: float) -> bool:
    """True once the medians of the last two groups of calls differ by no more than `tolerance`, relative."""
    if len(recent) < 2 * group:
        return False
    before, after = median(recent[-2 * group : -group]), median(recent[-group:])
    return abs(after - before) <= tolerance * before


def calls_in_block(call_ms: float, *, share_ms: float, most: int) -> int:
    """How many samples a callable gets in each block, so that a fast one gets more: from 1 to `most`."""
    return max(1, min(most, round(share_ms / max(call_ms, 1e-6))))
