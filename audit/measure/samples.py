"""Timing protocols, samples under them as measurements, and statistics, which are derived on demand and never stored.

Names of protocols appear in records and reports, so each states the method, cuts included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from statistics import median, quantiles
from typing import Any

from audit.model import Measurement, Shape
from audit.run.messages.timing_requests import Protocol
from audit.run.timing.ratios import LEAST_MS, Ratio, ratio

PUBLISHED_REP_MS = 10_000
REP_MS = 300
"""The part of the published 10 s a callable that is run: long enough for the kept samples of a short kernel."""

PUBLISHED = "published: "
"""The prefix of published protocols."""
DO_BENCH = f"{PUBLISHED}do_bench"
DO_BENCH_OF_MEAN = f"{PUBLISHED}do_bench of mean(), rep={PUBLISHED_REP_MS} cut to {REP_MS}"

OURS = "CUDA events, L2 cold, interleaved in blocks"
REPEATED = "CUDA events, L2 cold, interleaved in blocks, in another process"
"""That of `OURS` in the sessions whose ratios are pooled, see `comparison.compared`."""
SIZED = "CUDA events, L2 cold, interleaved in blocks, at another size"
"""That of `OURS` at shapes beside the claimed one, see `sizes`."""
HOT = "CUDA events, L2 hot, interleaved in blocks"
SEEN = "CUDA events, L2 cold, contents seen right before"
HOST_CLOCK = "host clock, device synchronised"
OUTSIDE = "clock of another process, alone in a process, launches included"
BUSY = "profiler, while kernels ran"
SPAN = "profiler, first start to last end"
ALONE = "CUDA events, L2 cold, alone"
ALONE_HOT = "CUDA events, L2 hot, alone"
READ = "control:l2 read"
"""The callable that reads a part of the L2 cache, hot and cold."""
CONTRADICTED = "contradicted by the clock of another process: "
"""The prefix of protocols whose times do not count, see `independent_clock`."""

BY_HOW = {"cold": OURS, "hot": HOT, "host": HOST_CLOCK, "seen": SEEN}
"""The protocol of each kind of samples of an interleaved session."""

FENCE = 3.0
"""The distance of an outlier from the third quartile, in interquartile ranges. It is shown and kept."""


def published(*, timed_mean: bool) -> tuple[Protocol, ...]:
    """Return plain do_bench, for every callable, and do_bench of the result's mean where the claim timed that."""
    alone = Protocol(name=DO_BENCH, of_mean=False, warmup_ms=25, rep_ms=100)
    of_mean = Protocol(name=DO_BENCH_OF_MEAN, of_mean=True, warmup_ms=25, rep_ms=REP_MS)
    return (alone, of_mean) if timed_mean else (alone,)


def found(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> tuple[Measurement, ...]:
    """Return the timings of a variant under a protocol, in order."""
    return tuple(one for one in measurements if (one.variant, one.protocol) == (variant, protocol))


def median_ms(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> float | None:
    """Return the median of the last timing in milliseconds; None where it was not measured."""
    timings = found(measurements, variant, protocol)
    return _median(timings[-1].samples_ms) if timings else None


_median = lru_cache(maxsize=4096)(median)


def ratio_to(
    measurements: Sequence[Measurement], variant: str, baseline: str, protocol: str = OURS
) -> tuple[Ratio, str] | None:
    """Return the baseline's time over the variant's in the last session with both, and that session's name."""
    theirs = {one.session: one for one in found(measurements, baseline, protocol)}
    both = [one for one in found(measurements, variant, protocol) if one.session in theirs]
    if not both:
        return None
    return ratio(both[-1], theirs[both[-1].session]), both[-1].session


def speedup(measurements: Sequence[Measurement], variant: str, baseline: str, protocol: str = OURS) -> float | None:
    """Return the baseline's time over the variant's in one session; None where either is missing."""
    compared = ratio_to(measurements, variant, baseline, protocol)
    return None if compared is None else compared[0].value


def order_effect(timing: Measurement) -> float | None:
    """Return the relative difference of medians between the later and the earlier half of positions in a block, which
    shows a callable whose time depends on those before it. None without samples in both halves."""
    if len(set(timing.positions)) < 2:
        return None
    middle = median(timing.positions)
    pairs = list(zip(timing.positions, timing.samples_ms, strict=True))
    early = [sample for position, sample in pairs if position < middle]
    late = [sample for position, sample in pairs if position > middle]
    return median(late) / max(median(early), LEAST_MS) - 1 if early and late else None


def outliers(samples_ms: Sequence[float]) -> int:
    """Return the number of samples far above the others; they are kept, as the median is robust."""
    if len(samples_ms) < 2:
        return 0
    first, _, third = quantiles(samples_ms, n=4, method="inclusive")
    return sum(sample > third + FENCE * (third - first) for sample in samples_ms)


def measurements_of(events: Iterable[dict[str, Any]], *, session: str, shape: Shape) -> list[Measurement]:
    """Return the measurements of one process; ceilings have shapes of their own, and those of published protocols,
    which time one callable after another, belong to no session."""
    return [one for event in events for one in _of(event, session, shape)]


def _of(event: dict[str, Any], session: str, shape: Shape) -> Iterator[Measurement]:
    if "contrast" in event:
        size = dict(event["contrast"])
        yield _measurement(READ, size, ALONE, event["cold_ms"], session)
        yield _measurement(READ, size, ALONE_HOT, event["hot_ms"], session)
    elif "profiled" in event:
        yield _measurement(event["profiled"], shape, BUSY, event["busy_ms"], session)
        yield _measurement(event["profiled"], shape, SPAN, event["span_ms"], session)
    elif "how" in event:
        yield _measurement(event["variant"], shape, BY_HOW[event["how"]], event["samples_ms"], session).model_copy(
            update={"blocks": tuple(event["blocks"]), "positions": tuple(event["positions"])}
        )
    elif "samples_ms" in event:
        protocol = event.get("protocol", ALONE)
        own = "" if protocol.startswith(PUBLISHED) else session
        yield _measurement(event["variant"], event.get("shape", shape), protocol, event["samples_ms"], own)


def _measurement(variant: str, shape: Shape, protocol: str, samples: list[float], session: str) -> Measurement:
    return Measurement(
        variant=variant,
        shape=dict(shape),
        protocol=protocol,
        samples_ms=tuple(float(sample) for sample in samples),
        session=session,
    )


CEILING = "ceiling:"
COPY = f"{CEILING}copy"
PRODUCTS = {"fp32": "matmul_fp32", "tf32": "matmul_tf32", "fp16": "matmul_fp16", "bf16": "matmul_fp16"}
SPLIT_PRODUCTS = 3
"""The products of fp16 parts in one product of split numbers."""


def rate(measurements: Sequence[Measurement], name: str) -> float | None:
    """Return the bytes moved or operations done in a millisecond; None where not measured."""
    timings, ms = found(measurements, name, ALONE), median_ms(measurements, name, ALONE)
    if not ms:
        return None
    sizes = timings[-1].shape
    return (sizes["bytes"] if name == COPY else 2.0 * prod(sizes.values())) / ms


def least_ms(measurements: Sequence[Measurement], cost: Mapping[str, float], precision: str) -> float | None:
    """Return the time of work, `flops` and `bytes`, at the measured rates of products of that precision and copies, in
    ms; None where unknown. `split_fp16` takes three products of fp16."""
    each, times = ("fp16", SPLIT_PRODUCTS) if precision == "split_fp16" else (precision, 1)
    copied, computed = rate(measurements, COPY), rate(measurements, f"{CEILING}{PRODUCTS[each]}")
    if copied is None or computed is None:
        return None
    return max(times * cost["flops"] / computed, cost["bytes"] / copied)
