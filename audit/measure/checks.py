"""Findings about the measurement itself: is the control "same", does the flush work, do the clocks agree?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from audit.build.cuda.gpu import SLOWED_BY, GpuState
from audit.measure.comparison import control
from audit.measure.samples import (
    ALONE,
    ALONE_HOT,
    BUSY,
    DO_BENCH,
    HOST_CLOCK,
    READ,
    SEEN,
    SPAN,
    found,
    median_ms,
    order_effect,
)
from audit.model import Finding, Measurement
from audit.run.messages.timing_requests import EMPTY, GRAPHED

SAME_TWICE = "same_twice"
FLUSH = "l2_flush"
ORDER = "order_effect"
CLOCKS = "clocks"
TIMING = "timing"
KEPT_BY_CONTENT = "kept_by_content"
DRIFT = 0.05
"""The relative span of the SM clock above which it has drifted."""
MOST_ROWS = 40
CONTRAST = 1.1
"""The least factor by which reading a part of the L2 cache takes longer after a flush."""
SEEN_SHARE, SEEN_MS = 0.6, 0.01
"""A result is cached by content where one just seen takes less than this share of a new one's time, less this much."""
ORDER_BOUND = 0.05
"""The most by which a median may differ between later and earlier positions in a block."""
DISAGREEMENT, SLACK_MS = 1.25, 0.05
"""Two clocks disagree where one exceeds the other by more than this factor and these milliseconds: a launch and a
synchronisation cost the host's clock some 0.03 ms."""
APART, CLOCK_MS = 0.05, 0.001
"""The share and the step of the events' clock by which the blocks and another timer may differ."""
PROFILE_MS = 0.005
"""The milliseconds by which events, less their own cost, may be outside the profiler's times beside that share: gaps
between two launches vary as much."""
TIMERS = {DO_BENCH: ("triton.testing.do_bench", "do_bench_ms"), GRAPHED: ("a CUDA graph of the call", "graph_ms")}
"""Other timers of one callable: their names, and the keys of their medians in the evidence."""


def about(measurements: Sequence[Measurement], session: str, *, target: str) -> list[Finding]:
    """Return all findings about one session, from its samples."""
    own = [one for one in measurements if one.session == session]
    names = sorted({one.variant for one in own})
    entries = [same_twice(own, session, target=target), flush(own, target=target)]
    entries += [by_timer([*own, *found(measurements, name, timer)], name, timer) for timer in TIMERS for name in names]
    entries += [check(own, name) for name in names for check in (by_host_clock, by_profiler, by_order, by_contents)]
    return [one for one in entries if one is not None]


def same_twice(measurements: Sequence[Measurement], session: str, *, target: str) -> Finding | None:
    """Check the control: one callable timed under two names, at random positions of each block."""
    twice = control(measurements, session)
    if twice is None:
        return None
    name, value = twice
    evidence: dict[str, JsonValue] = {"callable": name, "ratio": value.value, "low": value.low, "high": value.high,
                                      "blocks": value.blocks}  # fmt: skip
    passed = value.word == "same"
    text = f"{name} timed twice under two names: {value.value:.4f}x, {value.word}"
    text += "" if passed else f"; no ratio of this session counts{f': {value.doubt}' if value.doubt else ''}"
    return _finding(SAME_TWICE, target, passed, text, evidence)


def flush(measurements: Sequence[Measurement], *, target: str) -> Finding | None:
    """Check that overwriting memory before a call flushes the L2 cache: a part of it is read hot and cold."""
    cold, hot = median_ms(measurements, READ, ALONE), median_ms(measurements, READ, ALONE_HOT)
    if cold is None or hot is None:
        return None
    evidence: dict[str, JsonValue] = {"cold_ms": cold, "hot_ms": hot, "contrast": cold / hot}
    passed = cold >= CONTRAST * hot
    text = f"reading a part of the L2 cache takes {cold / hot:.2f} times as long after a flush"
    text += "" if passed else f", under {CONTRAST:g}: the cold times may be of a warm cache"
    return _finding(FLUSH, target, passed, text, evidence)


def by_host_clock(measurements: Sequence[Measurement], name: str) -> Finding | None:
    """Return a hint if the host's clock measured much more than CUDA events: work on another stream, or the host's own
    before the launch, which it is where the profiler saw what the events saw."""
    events, host = median_ms(measurements, name), median_ms(measurements, name, HOST_CLOCK)
    if events is None or host is None or host <= DISAGREEMENT * events + SLACK_MS:
        return None
    text = f"CUDA events say {events:.4g} ms, a synchronised host clock {host:.4g} ms"
    launching = median_ms(measurements, name, SPAN) is not None and by_profiler(measurements, name) is None
    unseen = "work escapes the events, or others had the GPU in between"
    text += f": {'the host takes the rest to launch it, which times by events leave out' if launching else unseen}"
    return _finding(TIMING, name, False, text, {"events_ms": events, "host_ms": host})


def by_contents(measurements: Sequence[Measurement], name: str) -> Finding | None:
    """Return a hint if contents just seen take much less time than new ones: results are cached by content."""
    new, seen = median_ms(measurements, name), median_ms(measurements, name, SEEN)
    if new is None or seen is None or not (seen < SEEN_SHARE * new and new - seen > SEEN_MS):
        return None
    text = f"contents that came right before take {seen:.4g} ms, new ones {new:.4g} ms"
    text += ": results are kept by content, and the time that counts is that of new ones"
    return _finding(KEPT_BY_CONTENT, name, False, text, {"new_ms": new, "seen_ms": seen})


def by_profiler(measurements: Sequence[Measurement], name: str) -> Finding | None:
    """Return a hint if CUDA events, less their own cost, are outside the profiler's times of the call's kernels. Their
    cost is what they say of an empty kernel beyond that kernel."""
    events = median_ms(measurements, name)
    busy, span = median_ms(measurements, name, BUSY), median_ms(measurements, name, SPAN)
    if events is None or busy is None or span is None:
        return None
    empty, kernel = median_ms(measurements, EMPTY, ALONE), median_ms(measurements, EMPTY, SPAN)
    cost = max(0.0, empty - kernel) if empty is not None and kernel is not None else 0.0
    if busy * (1 - APART) - PROFILE_MS <= events - cost <= span * (1 + APART) + PROFILE_MS:
        return None
    text = f"CUDA events say {events:.4g} ms; the profiler saw kernels busy for {busy:.4g} ms within {span:.4g} ms"
    unseen = ": work ran that events do not see, or others had the GPU in between"
    text += ": the host's launches are part of the time" if events > span else unseen
    evidence: dict[str, JsonValue] = {"events_ms": events, "busy_ms": busy, "span_ms": span, "events_cost_ms": cost}
    return _finding(TIMING, name, False, text, evidence)


def by_timer(measurements: Sequence[Measurement], name: str, protocol: str) -> Finding | None:
    """Return a hint if one of `TIMERS`, which calls one callable repeatedly, measures another time than the blocks."""
    blocks, alone = median_ms(measurements, name), median_ms(measurements, name, protocol)
    if blocks is None or alone is None or abs(alone - blocks) <= APART * blocks + CLOCK_MS:
        return None
    timer, key = TIMERS[protocol]
    text = f"{timer} says {alone:.4g} ms, the interleaved blocks {blocks:.4g} ms"
    text += f": {100 * (alone / blocks - 1):+.0f} %"
    if protocol == GRAPHED and alone < blocks / 2:
        text += ": some of the work is not in the graph, as with launches on another stream"
    return _finding(TIMING, name, False, text, {key: alone, "blocks_ms": blocks})


def by_order(measurements: Sequence[Measurement], name: str) -> Finding | None:
    """Return a hint if a callable's time depends on its position in the blocks, that is on the callables before it."""
    timings = found(measurements, name)
    effect = order_effect(timings[-1]) if timings else None
    if effect is None or abs(effect) <= ORDER_BOUND:
        return None
    text = f"{100 * effect:+.1f} % in the later half of the blocks' orders: its time depends on what ran before it"
    return _finding(ORDER, name, False, text, {"effect": effect})


def session_summary(events: Sequence[dict[str, Any]], *, name: str, target: str, half_width: float) -> Finding | None:
    """Return a finding about the end of a session: enough samples, or the end of its budget."""
    ended: dict[str, Any] | None = next((event["session"] for event in events if "session" in event), None)
    if ended is None:
        return None
    warmed = [event for event in events if "warmed" in event]
    unstable = [event["warmed"] for event in warmed if not event["stable"]]
    ending = f"every ratio's interval was within {100 * half_width:g} %" if ended["tight"] else "its budget was spent"
    text = f"session {name}: {ended['blocks']} blocks in {ended['seconds']:.2f} s until {ending}"
    text += f"; not steady after the warm-up's cap: {', '.join(unstable)}" if unstable else ""
    if ended.get("left_out"):
        text += f"; times that no clock can give were left out ({ended['left_out']} samples): a clock jumped"
    evidence: dict[str, JsonValue] = {
        **ended,
        "parts_s": {event["part"]: event["seconds"] for event in events if "part" in event},
        "load_s": {event["loaded"]: event["seconds"] for event in events if "loaded" in event},
        "warm_up": [{**event} for event in warmed],
    }
    return Finding(probe=TIMING, target=target, outcome="pass", summary=text, evidence=evidence)


def _finding(probe: str, target: str, passed: bool, text: str, evidence: dict[str, JsonValue]) -> Finding:
    """Return a pass, or a failure with the grade hint."""
    if passed:
        return Finding(probe=probe, target=target, outcome="pass", summary=text, evidence=evidence)
    return Finding(probe=probe, target=target, outcome="fail", grade="hint", summary=text, evidence=evidence)


@dataclass(frozen=True)
class Reading:
    """The GPU's state in a session: before block `block`, or None for before or after a whole process."""

    what: str
    block: int | None
    state: GpuState | None
    processes: int | None = None


def readings(what: str, rows: Sequence[dict[str, Any]]) -> list[Reading]:
    """Return the driver's states that a timing process sent, block by block."""
    return [Reading(what, row["block"], _state(row), row["processes"]) for row in rows]


def clocks(taken: Sequence[Reading], *, target: str) -> Finding:
    """Return one finding for all timings: a pass if the clock was steady and the driver reported no slowdown.

    A slowed GPU fails no kernel: it is a hint that the times are longer than this card needs. Ratios within a block
    share its clock.
    """
    states = [one.state for one in taken if one.state is not None]
    if not states:
        text = "the driver tells no clocks; nothing is known about them"
        return Finding(probe=CLOCKS, target=target, outcome="skip", summary=text)
    reasons = sorted({reason for state in states for reason in state.slowed_by})
    speeds = [state.sm_mhz for state in states if state.sm_mhz is not None]
    drifted = bool(speeds) and max(speeds) - min(speeds) > DRIFT * max(speeds)
    others = max((one.processes for one in taken if one.processes is not None), default=1)
    span = f"SM clock {min(speeds):,.0f} to {max(speeds):,.0f} MHz" if speeds else "SM clock unknown"
    text = f"{span} in {len(states)} readings; slowed by {', '.join(reasons) or 'nothing'}"
    text += "; the clock drifted, and only ratios within a block are free of it" if drifted else ""
    text += f"; up to {others} processes had a context on this GPU" if others > 1 else ""
    return _finding(CLOCKS, target, not (reasons or drifted), text, {"readings": _rows(taken)})


def not_timed(what: str, why: str) -> Finding:
    """Return the error of a timing without all of its samples."""
    return Finding(probe=TIMING, target=what, outcome="error", summary=f"not timed: {why}")


def skipped(what: str, why: str, *, target: str) -> Finding:
    """Return the skip of a timing function that this machine lacks."""
    return Finding(probe=TIMING, target=target, outcome="skip", summary=f"{what} gave no times: {why}")


def _state(row: dict[str, Any]) -> GpuState:
    slowed = tuple(reason for bit, reason in SLOWED_BY.items() if (row["reasons"] or 0) & bit)
    return GpuState(row["sm_mhz"], row["memory_mhz"], row["power_w"], row["temperature_c"], slowed)


def _rows(taken: Sequence[Reading]) -> list[JsonValue]:
    step = max(1, -(-len(taken) // MOST_ROWS))
    return [
        {"timing": one.what, "block": one.block, **(dict(one.state.evidence()) if one.state else {})}
        for one in taken[::step]
    ]
