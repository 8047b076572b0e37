"""Findings about the timing itself: what the GPU's clocks did, which timings failed, whether two clocks agree."""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import JsonValue

from audit.build.gpu import GpuState
from audit.measure.samples import clocks_disagree
from audit.model import Finding, Measurement

CLOCKS = "clocks"
TIMING = "timing"


@dataclass(frozen=True)
class Watched:
    """The GPU before and after the timings of one process; None where the driver did not answer."""

    what: str
    before: GpuState | None
    after: GpuState | None


def clocks(watched: list[Watched], *, target: str) -> Finding:
    """One finding for all timings: a pass if the driver named nothing that slowed the GPU.

    A slowed GPU accuses nobody: it is a hint that the times are longer than this card needs.
    """
    states = [state for one in watched for state in (one.before, one.after) if state is not None]
    rows: list[JsonValue] = [
        {
            "timing": one.what,
            "before": dict(one.before.evidence()) if one.before else None,
            "after": dict(one.after.evidence()) if one.after else None,
        }
        for one in watched
    ]
    if not states:
        text = "the driver tells no clocks; nothing is known about them"
        return Finding(probe=CLOCKS, target=target, outcome="skip", summary=text)
    reasons = sorted({reason for state in states for reason in state.slowed_by})
    speeds = [state.sm_mhz for state in states if state.sm_mhz is not None]
    span = f"SM clock {min(speeds):,.0f} to {max(speeds):,.0f} MHz" if speeds else "SM clock unknown"
    text = f"{span} around {len(watched)} timings; slowed by {', '.join(reasons) or 'nothing'}"
    outcome, grade = ("fail", "hint") if reasons else ("pass", None)
    return Finding.model_validate(
        {
            "probe": CLOCKS,
            "target": target,
            "outcome": outcome,
            "grade": grade,
            "summary": text,
            "evidence": {"timings": rows},
        }
    )


def agreement_of_clocks(measurements: list[Measurement], variant: str) -> list[Finding]:
    """A hint if a host clock saw much more than CUDA events did, as with work on a stream they do not watch."""
    found = clocks_disagree(measurements, variant)
    if found is None:
        return []
    events, host = found
    text = f"CUDA events say {events:.4g} ms, a synchronised host clock {host:.4g} ms: part of the work escapes events"
    evidence: dict[str, JsonValue] = {"events_ms": events, "host_ms": host}
    return [Finding(probe=TIMING, target=variant, outcome="fail", grade="hint", summary=text, evidence=evidence)]


def not_timed(variant: str, how: str) -> Finding:
    """A timing that gave no samples, or not all."""
    return Finding(probe=TIMING, target=variant, outcome="error", summary=f"not timed: {how}")
