"""Timing protocols. Their names appear in records and reports, so each states the method, cuts included."""

from __future__ import annotations

from audit.run.timing_requests import Protocol

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
HOT = "CUDA events, L2 hot, interleaved in blocks"
SEEN = "CUDA events, L2 cold, contents seen right before"
HOST_CLOCK = "host clock, device synchronised"
OUTSIDE = "clock of another process, alone in a process, launches included"
BUSY = "profiler, while kernels ran"
SPAN = "profiler, first start to last end"
ALONE = "CUDA events, L2 cold, alone"
ALONE_HOT = "CUDA events, L2 hot, alone"
BEFORE_BLOCKS = "do_bench, L2 flushed"
"""The counterpart of `OURS` in records of schema 1, whose callables were timed one after another."""
READ = "control:l2 read"
"""The callable that reads a part of the L2 cache, hot and cold."""
CONTRADICTED = "contradicted by the clock of another process: "
"""The prefix of protocols whose times do not count, see `independent_clock`."""

BY_HOW = {"cold": OURS, "hot": HOT, "host": HOST_CLOCK, "seen": SEEN}
"""The protocol of each kind of samples of an interleaved session."""


def published(*, timed_mean: bool) -> tuple[Protocol, ...]:
    """Return plain do_bench, for every callable, and do_bench of the result's mean where the claim timed that."""
    alone = Protocol(name=DO_BENCH, of_mean=False, warmup_ms=25, rep_ms=100)
    of_mean = Protocol(name=DO_BENCH_OF_MEAN, of_mean=True, warmup_ms=25, rep_ms=REP_MS)
    return (alone, of_mean) if timed_mean else (alone,)
