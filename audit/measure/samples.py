"""Statistics of raw samples: derived whenever they are needed, never stored."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from audit.measure.protocols import HOST_CLOCK, OURS
from audit.model import Measurement

DISAGREEMENT = 2.0
LAUNCH_MS = 0.05
"""What a host clock adds to a call, generously: no disagreement is seen below it."""


def median_ms(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> float | None:
    """The median in milliseconds; None where nobody measured it."""
    found = [one for one in measurements if (one.variant, one.protocol) == (variant, protocol)]
    return median(found[-1].samples_ms) if found else None


def speedup(measurements: Iterable[Measurement], variant: str, baseline: str, protocol: str = OURS) -> float | None:
    """Median baseline time over median time of the variant under one protocol; None where either is missing."""
    known = tuple(measurements)
    ours, theirs = median_ms(known, variant, protocol), median_ms(known, baseline, protocol)
    return theirs / ours if ours and theirs else None


def clocks_disagree(measurements: Iterable[Measurement], variant: str) -> tuple[float, float] | None:
    """Medians (events, host) if the host clock saw much more than the events did: work the events did not watch."""
    known = tuple(measurements)
    events, host = median_ms(known, variant), median_ms(known, variant, HOST_CLOCK)
    if events is None or host is None:
        return None
    return (events, host) if host > DISAGREEMENT * events + LAUNCH_MS else None
