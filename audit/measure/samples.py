"""The samples of timing sessions as measurements, and what they say: derived whenever it is needed, never stored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from math import prod
from statistics import median, quantiles
from typing import Any

from audit.measure.protocols import ALONE, ALONE_HOT, BEFORE_BLOCKS, BUSY, BY_HOW, OURS, PUBLISHED, READ, SPAN
from audit.model import Measurement, Shape
from audit.run.ratios import LEAST_MS, Ratio, ratio

FENCE = 3.0
"""An outlier lies this many interquartile ranges above the third quartile. It is shown and stays in."""


def found(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> tuple[Measurement, ...]:
    """The timings of a variant under a protocol, in their order; those of schema 1 stand in for `OURS`."""
    own = tuple(one for one in measurements if one.variant == variant)
    named = tuple(one for one in own if one.protocol == protocol)
    return named if named or protocol != OURS else tuple(one for one in own if one.protocol == BEFORE_BLOCKS)


def median_ms(measurements: Iterable[Measurement], variant: str, protocol: str = OURS) -> float | None:
    """The median of the last timing in milliseconds; None where it was not measured."""
    timings = found(measurements, variant, protocol)
    return _median(timings[-1].samples_ms) if timings else None


_median = lru_cache(maxsize=4096)(median)


def ratio_to(
    measurements: Sequence[Measurement], variant: str, baseline: str, protocol: str = OURS
) -> tuple[Ratio, str] | None:
    """The baseline's time over the variant's, from the last session that has both, and that session's name."""
    theirs = {one.session: one for one in found(measurements, baseline, protocol)}
    both = [one for one in found(measurements, variant, protocol) if one.session in theirs]
    if not both:
        return None
    return ratio(both[-1], theirs[both[-1].session]), both[-1].session


def speedup(measurements: Sequence[Measurement], variant: str, baseline: str, protocol: str = OURS) -> float | None:
    """The baseline's time over the variant's in one session; None where either is missing."""
    compared = ratio_to(measurements, variant, baseline, protocol)
    return None if compared is None else compared[0].value


def order_effect(timing: Measurement) -> float | None:
    """Relative difference between medians in the later and in the earlier half of the blocks' orders; None if untold.

    A callable whose time depends on what ran before it in a block shows here.
    """
    if len(set(timing.positions)) < 2:
        return None
    middle = median(timing.positions)
    pairs = list(zip(timing.positions, timing.samples_ms, strict=True))
    early = [sample for position, sample in pairs if position < middle]
    late = [sample for position, sample in pairs if position > middle]
    return median(late) / max(median(early), LEAST_MS) - 1 if early and late else None


def outliers(samples_ms: Sequence[float]) -> int:
    """How many samples lie far above the others; they stay in, and the median does not mind them."""
    if len(samples_ms) < 2:
        return 0
    first, _, third = quantiles(samples_ms, n=4, method="inclusive")
    return sum(sample > third + FENCE * (third - first) for sample in samples_ms)


def measurements_of(events: Iterable[dict[str, Any]], *, session: str, shape: Shape) -> list[Measurement]:
    """The samples of one process; ceilings have shapes of their own.

    What is timed as published was timed there one after another, in any process: it belongs to no session.
    """
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
"""Products of fp16 parts that one product of split numbers takes."""


def rate(measurements: Sequence[Measurement], name: str) -> float | None:
    """Bytes moved or operations done in a millisecond; None where it was not measured."""
    timings, ms = found(measurements, name, ALONE), median_ms(measurements, name, ALONE)
    if not ms:
        return None
    sizes = timings[-1].shape
    return (sizes["bytes"] if name == COPY else 2.0 * prod(sizes.values())) / ms


def least_ms(measurements: Sequence[Measurement], cost: Mapping[str, float], precision: str) -> float | None:
    """The time of that work at the rates reached by products of that precision and by a copy; None where unknown.

    Args:
        measurements: all timings.
        cost: `flops` and `bytes` of the work.
        precision: of the products; `split_fp16` takes three of fp16.
    """
    each, times = ("fp16", SPLIT_PRODUCTS) if precision == "split_fp16" else (precision, 1)
    copied, computed = rate(measurements, COPY), rate(measurements, f"{CEILING}{PRODUCTS[each]}")
    if copied is None or computed is None:
        return None
    return max(times * cost["flops"] / computed, cost["bytes"] / copied)
