"""How things are timed. Names are what a record and a report say, so each states what was done, cuts included."""

from __future__ import annotations

from typing import Any

PUBLISHED_REP_MS = 10_000
REP_MS = 1_000
"""What is run of the published 10 s a callable: as many samples as are kept fit into it."""
OUR_REP_MS = 300
"""Some 30 samples of a slow kernel."""

DO_BENCH = "published: do_bench"
DO_BENCH_OF_MEAN = f"published: do_bench of mean(), rep={PUBLISHED_REP_MS} cut to {REP_MS}"
OURS = "do_bench, L2 flushed"
HOST_CLOCK = "host clock, device synchronised"


def published(only: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The two timings of the published evaluation, for the variants named or for all."""
    return [
        _protocol(DO_BENCH, warmup_ms=25, rep_ms=100, only=only),
        _protocol(DO_BENCH_OF_MEAN, of_mean=True, warmup_ms=25, rep_ms=REP_MS, only=only),
    ]


def ours() -> list[dict[str, Any]]:
    """A longer warm-up, then do_bench, and the same calls by a clock that watches every stream."""
    return [
        _protocol(OURS, warmup_ms=100, rep_ms=OUR_REP_MS),
        _protocol(HOST_CLOCK, clock="host", warmup_ms=0, rep_ms=OUR_REP_MS),
    ]


def _protocol(name: str, *, clock: str = "events", of_mean: bool = False, only: tuple[str, ...] = (),
              **milliseconds: int) -> dict[str, Any]:  # fmt: skip
    return {"name": name, "clock": clock, "of_mean": of_mean, "only": list(only), **milliseconds}
