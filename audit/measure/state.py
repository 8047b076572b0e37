"""Findings about the GPU while it was timed: clocks, power, heat, neighbours, and timings that did not happen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from audit.build.cuda.gpu import SLOWED_BY, GpuState
from audit.model import Finding

CLOCKS = "clocks"
TIMING = "timing"
DRIFT = 0.05
"""Relative span of the SM clock past which it is said that the clock drifted."""
TOLD_ROWS = 40


@dataclass(frozen=True)
class Watched:
    """The GPU at one moment of a session: before block `block`, or None for before or after a whole process."""

    what: str
    block: int | None
    state: GpuState | None
    processes: int | None = None


def watched_blocks(what: str, rows: Sequence[dict[str, Any]]) -> list[Watched]:
    """What a timing process reported of the driver's view, block by block."""
    return [Watched(what, row["block"], _state(row), row["processes"]) for row in rows]


def clocks(watched: Sequence[Watched], *, target: str) -> Finding:
    """One finding for all timings: a pass if the clock was steady and the driver named nothing that slowed the GPU.

    A slowed GPU fails no kernel: it is a hint that the times are longer than this card needs. Ratios within a block
    share its clock.
    """
    states = [one.state for one in watched if one.state is not None]
    if not states:
        text = "the driver tells no clocks; nothing is known about them"
        return Finding(probe=CLOCKS, target=target, outcome="skip", summary=text)
    reasons = sorted({reason for state in states for reason in state.slowed_by})
    speeds = [state.sm_mhz for state in states if state.sm_mhz is not None]
    drifted = bool(speeds) and max(speeds) - min(speeds) > DRIFT * max(speeds)
    others = max((one.processes for one in watched if one.processes is not None), default=1)
    span = f"SM clock {min(speeds):,.0f} to {max(speeds):,.0f} MHz" if speeds else "SM clock unknown"
    text = f"{span} in {len(states)} readings; slowed by {', '.join(reasons) or 'nothing'}"
    text += "; the clock drifted, and only ratios within a block are free of it" if drifted else ""
    text += f"; up to {others} processes had a context on this GPU" if others > 1 else ""
    outcome, grade = ("fail", "hint") if reasons or drifted else ("pass", None)
    fields = {"probe": CLOCKS, "target": target, "outcome": outcome, "grade": grade, "summary": text}
    return Finding.model_validate(fields | {"evidence": {"readings": _rows(watched)}})


def not_timed(what: str, why: str) -> Finding:
    """A timing that gave no samples, or not all."""
    return Finding(probe=TIMING, target=what, outcome="error", summary=f"not timed: {why}")


def _state(row: dict[str, Any]) -> GpuState:
    slowed = tuple(reason for bit, reason in SLOWED_BY.items() if (row["reasons"] or 0) & bit)
    return GpuState(row["sm_mhz"], row["memory_mhz"], row["power_w"], row["temperature_c"], slowed)


def _rows(watched: Sequence[Watched]) -> list[JsonValue]:
    """Evenly spaced readings, as many as a finding keeps."""
    step = max(1, -(-len(watched) // TOLD_ROWS))
    return [
        {"timing": one.what, "block": one.block, **(dict(one.state.evidence()) if one.state else {})}
        for one in watched[::step]
    ]
