"""What samples say, derived whenever it is needed, never stored."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import median

from audit.measure.protocols import BEFORE_BLOCKS, BUSY, HOST_CLOCK, OURS, SPAN
from audit.measure.statistics import Ratio, Series, ratio
from audit.model import Measurement

LEAST_MS = 1e-6
"""A nanosecond: events tell half a microsecond. A time of zero is a time below this."""
DISAGREEMENT = 1.25
SLACK_MS = 0.05
"""Two clocks disagree where one says more than this factor of the other and this many milliseconds more: a launch and
the waiting for it cost the host's clock some 0.03 ms."""
OUTSIDE_PROFILE = 0.1
PROFILE_SLACK_MS = 0.02
"""Events must say no less than the profiler saw kernels run, and no more than its span, but for these."""


def found(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> tuple[Measurement, ...]:
    """The timings of a variant under a protocol, in their order; those of schema 1 stand in for `OURS`."""
    own = tuple(one for one in measurements if one.variant == variant)
    named = tuple(one for one in own if one.protocol == protocol)
    return named if named or protocol != OURS else tuple(one for one in own if one.protocol == BEFORE_BLOCKS)


def median_ms(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> float | None:
    """The median of the last timing in milliseconds; None where it was not measured."""
    timings = found(measurements, variant, protocol)
    return median(timings[-1].samples_ms) if timings else None


def ratio_to(
    measurements: Iterable[Measurement], variant: str, baseline: str, protocol: str = OURS
) -> tuple[Ratio, str] | None:
    """The baseline's median over the variant's, from the last session that has both, and that session's name."""
    known = tuple(measurements)
    theirs = {one.session: one for one in found(known, baseline, protocol)}
    both = [one for one in found(known, variant, protocol) if one.session in theirs]
    if not both:
        return None
    return ratio(series(both[-1]), series(theirs[both[-1].session])), both[-1].session


def speedup(measurements: Iterable[Measurement], variant: str, baseline: str, protocol: str = OURS) -> float | None:
    """Median baseline time over median time of the variant in one session; None where either is missing."""
    compared = ratio_to(measurements, variant, baseline, protocol)
    return None if compared is None else compared[0].value


def series(one: Measurement) -> Series:
    """The samples as the statistics take them; one below what a clock can tell stands for just that."""
    return Series(tuple(max(sample, LEAST_MS) for sample in one.samples_ms), one.blocks, one.positions)


def clocks_disagree(measurements: Iterable[Measurement], variant: str) -> tuple[float, float] | None:
    """Medians (events, host) if the host clock saw much more than the events did: work the events did not watch."""
    known = tuple(measurements)
    events, host = median_ms(known, variant), median_ms(known, variant, HOST_CLOCK)
    if events is None or host is None:
        return None
    return (events, host) if host > DISAGREEMENT * events + SLACK_MS else None


def profile_disagrees(measurements: Iterable[Measurement], variant: str) -> tuple[float, float, float] | None:
    """Medians (events, busy, span) if events lie outside what the profiler saw between kernels' starts and ends."""
    known = tuple(measurements)
    events, busy, span = (median_ms(known, variant, protocol) for protocol in (OURS, BUSY, SPAN))
    if events is None or busy is None or span is None:
        return None
    low, high = busy * (1 - OUTSIDE_PROFILE) - PROFILE_SLACK_MS, span * (1 + OUTSIDE_PROFILE) + PROFILE_SLACK_MS
    return None if low <= events <= high else (events, busy, span)
