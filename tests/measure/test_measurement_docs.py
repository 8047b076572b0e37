"""What docs/measurement.md says of the engine is what its bench measured, and its numbers are those of the code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audit.measure import checks, comparison, independent_clock, samples, timing
from audit.run.timing import blocks, ratios, stopwatch

ROOT = Path(__file__).resolve().parents[2]
TEXT = " ".join((ROOT / "docs" / "measurement.md").read_text(encoding="utf-8").split())
COVERAGE: dict[str, Any] = json.loads((ROOT / "bench" / "results" / "coverage.json").read_text(encoding="utf-8"))
BENCH: dict[str, Any] = json.loads((ROOT / "bench" / "results" / "h100_timing.json").read_text(encoding="utf-8"))


def test_the_figures_are_those_of_the_bench() -> None:
    same, widths = BENCH["same"], [100 * one["half_width"] for one in BENCH["intervals"]]
    empty, *others = BENCH["profiler"]
    long = [one for one in others if one["over_50_us"]]
    raw, net = ([one[key] for one in long] for key in ("events_over_span", "net_over_span"))
    for result in (
        BENCH["gpu"],
        f"{same['sessions_with_an_alarm']} of {same['sessions']}",
        f"{min(widths):.2f} to {max(widths):.2f} %",
        f"{min(raw):.3f} to {max(raw):.3f}",
        f"{min(net):.3f} to {max(net):.3f}",
        f"{1e3 * empty['overhead_ms']:.1f} us",
    ):
        assert result in TEXT, result
    assert {one["blocks"] for one in BENCH["intervals"]} == {blocks.LEAST_BLOCKS}


def test_the_coverage_is_that_of_the_simulation() -> None:
    rows = [COVERAGE["scenes"], *COVERAGE["others"].values()]
    for share in ([one["covered"] for one in row.values()] for row in rows):
        assert f"{min(share):.1f} to {max(share):.1f} %" in TEXT
    for one in COVERAGE["processes"].values():
        assert f"| {one['one_session']:.1f} % | {one['covered']:.1f} % | {one['half_width']:.1f} % |" in TEXT
    assert f"{COVERAGE['sessions']} sessions of each of {len(COVERAGE['scenes'])} kinds of noise" in TEXT


def test_the_rules_are_those_of_the_code() -> None:
    for result in (
        f"{independent_clock.SPAN_MS:g} ms of calls, {independent_clock.MOST} at most",
        f"over {independent_clock.LONGER:g} times the reported time and {independent_clock.LAUNCH_MS:g} ms more",
        f"under {independent_clock.SHORTER:g} of the time with a hot L2 cache, less {independent_clock.EVENTS_MS:g} ms",
        f"for {blocks.WARM_MOST_S:g} s or {blocks.WARM_MOST_CALLS} calls",
        f"over {checks.DISAGREEMENT:g} times the events and {checks.SLACK_MS:g} ms",
        f"{100 * checks.APART:.0f} % and {checks.PROFILE_MS:g} ms either way",
        f"{100 * checks.APART:.0f} % and {checks.CLOCK_MS:g} ms from",
        f"cold must take {checks.CONTRAST:g} times as long",
        f"after {blocks.LEAST_BLOCKS} blocks at least",
        f"budget of {timing.BUDGET_S:g} s",
        f"within {100 * timing.HALF_WIDTH:g} % either side",
        f"fewer than {ratios.LEAST_BLOCKS} common blocks",
        f"an interval over {100 * ratios.WIDEST:g} % either side",
        f"more than {100 * ratios.SAME:g} % from one",
        f"after {blocks.LEAST_BLOCKS} blocks and again after {blocks.LOOKS:g} times as many each",
        f"cover {100 * ratios.LEVEL:g} % after a fixed number of blocks",
        f"over {100 * checks.ORDER_BOUND:g} % apart",
        f"under {comparison.UNDER:g} of its floor",
    ):
        assert result in TEXT, result
    assert (stopwatch.FLUSH_OF_L2, timing.KEPT_CALLS, samples.FENCE, checks.DRIFT) == (3, 2, 3.0, 0.05)
