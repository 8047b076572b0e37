"""The clock of another process: a callable alone in its process, called repeatedly between two of its messages.

Claimed code shares no process with a baseline here, and no clock of its process takes part: the supervisor stamps the
messages. Launches count, so the times of short kernels are longer than by events. `docs/measurement.md` has the rules.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from pydantic import JsonValue

from audit.measure.samples import CONTRADICTED, HOT, OURS, OUTSIDE, median_ms
from audit.model import Finding, Measurement, Shape
from audit.run.messages.timing_requests import EMPTY
from audit.run.processes.pool import Reply

NAME = "independent_clock"
SPAN_MS = 60.0
FEWEST, MOST = 3, 3000
LONGER, LAUNCH_MS = 2.0, 0.25
"""The factor of the reported time, and the milliseconds for launches, that a call may take: more than enough."""
SHORTER, EVENTS_MS = 0.75, 0.02
"""The share of the events' time with a hot L2 cache, less these milliseconds, that calls in a row take at least."""


def calls(reported_ms: float) -> int:
    """Return the number of calls of a reading, about `SPAN_MS` of them."""
    return max(FEWEST, min(MOST, math.ceil(SPAN_MS / max(reported_ms, 1e-6))))


def measured(reply: Reply, *, shape: Shape) -> list[Measurement]:
    """Return the milliseconds of a call in each reading between two messages, of an empty kernel and one callable."""
    came = [
        (event, moment)
        for event, moment in zip(reply.events, reply.arrived_s, strict=False)
        if "independent_clock" in event
    ]
    pairs = [(one, two) for one, two in pairwise(came) if (one[0]["at"], two[0]["at"]) == ("begin", "end")]
    readings: dict[str, list[float]] = {}
    for (one, begin), (_, end) in pairs if reply.finished else ():
        readings.setdefault(one["independent_clock"], []).append(1e3 * (end - begin) / one["calls"])
    return [
        Measurement(variant=name, shape=dict(shape), protocol=OUTSIDE, samples_ms=tuple(samples))
        for name, samples in readings.items()
    ]


def ratio(measurements: Sequence[Measurement], variant: str, baseline: str) -> float | None:
    """Return the least ratio of the baseline's time to the variant's by both clocks; None where a time is missing.

    The variant's time is the longer of its two, less the launch of an empty kernel by this clock; the baseline's the
    shorter.
    """
    ours, theirs, launch = (median_ms(measurements, name, OUTSIDE) for name in (variant, baseline, EMPTY))
    events, others = median_ms(measurements, variant), median_ms(measurements, baseline)
    if ours is None or theirs is None or launch is None or events is None or others is None:
        return None
    return min(theirs, others) / max(ours - launch, events)


def about(measurements: Sequence[Measurement], names: Iterable[str], *, target: str) -> list[Finding]:
    """Return one failure for each callable whose reported time this clock contradicts; without any, one pass, whose
    `target` is the claim. `names` are callables that were timed alone, or could not be."""
    rows: list[JsonValue] = []
    failed = []
    for name in names:
        outside, cold, hot = (median_ms(measurements, name, protocol) for protocol in (OUTSIDE, OURS, HOT))
        if outside is None or cold is None:
            text = f"{name} gave no time alone in a process: no clock but those of its own process speaks for it"
            failed.append(Finding(probe=NAME, target=name, outcome="error", summary=text))
            continue
        row: dict[str, JsonValue] = {"callable": name, "outside_ms": outside, "reported_ms": cold, "hot_ms": hot}
        rows.append(row)
        if why := _contradiction(outside, cold, hot):
            text = f"{outside:.4g} ms a call by the clock of another process, {why}: its times are unverified"
            failed.append(Finding(probe=NAME, target=name, outcome="fail", grade="hint", summary=text, evidence=row))
    if failed or not rows:
        return failed
    text = f"{len(rows)} callables, each alone in a process: the clock of another one contradicts no reported time"
    return [Finding(probe=NAME, target=target, outcome="pass", summary=text, evidence={"callables": rows})]


def _contradiction(outside: float, cold: float, hot: float | None) -> str | None:
    if not outside <= LONGER * cold + LAUNCH_MS:
        return f"{cold:.4g} ms by the clocks of its own"
    if hot is not None and not outside >= SHORTER * hot - EVENTS_MS:
        return f"{hot:.4g} ms with a hot L2 cache by the clocks of the process it shared"
    return None


def marked(measurements: Sequence[Measurement], findings: Sequence[Finding]) -> list[Measurement]:
    """Return the measurements, with contradicted ones under a protocol's name that marks them as such."""
    doubted = {one.target for one in findings if one.probe == NAME and one.outcome == "fail"}
    return [
        one.model_copy(update={"protocol": CONTRADICTED + one.protocol})
        if one.variant in doubted and one.protocol != OUTSIDE
        else one
        for one in measurements
    ]
