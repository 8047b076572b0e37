"""Runs in a child: times as the published evaluation took them, by triton's do_bench, soundness aside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from audit.run.requests import Protocol

MOST_SAMPLES = 300
"""Samples told for one protocol: where there are more, evenly spaced ones in the order they were taken."""


def exhibit(name: str, function: Callable[[int], Any], protocols: Sequence[Protocol]) -> list[dict[str, Any]]:
    """One event a protocol: `variant`, `protocol`, `samples_ms`. The inputs are those of the first set throughout."""
    return [
        {"variant": name, "protocol": protocol.name, "samples_ms": _do_bench(function, protocol)}
        for protocol in protocols
    ]


def evenly(samples: list[float], most: int = MOST_SAMPLES) -> list[float]:
    """At most that many of the samples, evenly spaced, in milliseconds to the nanosecond."""
    step = max(1, -(-len(samples) // most))
    return [round(sample, 6) for sample in samples[::step]]


def _do_bench(function: Callable[[int], Any], protocol: Protocol) -> list[float]:
    """Triton's own benchmark function: CUDA events around each call, the L2 cache overwritten before it."""
    from triton.testing import do_bench

    call = (lambda: function(0).mean()) if protocol.of_mean else (lambda: function(0))
    samples = do_bench(call, warmup=protocol.warmup_ms, rep=protocol.rep_ms, return_mode="all")
    return evenly([float(sample) for sample in samples])
