"""Reported times against the clock of another process: the supervisor stamps the events of a session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from pydantic import JsonValue

from audit.measure.protocols import CONTRADICTED, OURS, PUBLISHED
from audit.model import Finding, Measurement
from audit.run.pool import Reply

NAME = "independent_clock"
FACTOR, SLACK_MS, LATE_MS = 2.0, 0.25, 20.0
"""Calls may take this factor of the reported time by the parent's clock, this much more each for their launches, and
all together this much more for two messages: far more than any of them costs on an idle machine."""


@dataclass(frozen=True)
class Seen:
    """So many calls of a callable took so long by the parent's clock."""

    name: str
    calls: int
    wall_ms: float

    def contradicts(self, reported_ms: float) -> bool:
        """Whether no call can have been as short as that."""
        return not self.wall_ms <= self.calls * (FACTOR * reported_ms + SLACK_MS) + LATE_MS


def about(reply: Reply, measurements: Sequence[Measurement], *, target: str) -> list[Finding]:
    """One failure for each callable whose reported time the parent's clock contradicts; where none is, one pass.

    Args:
        reply: of a timing session.
        measurements: what it reported.
        target: the claim's name, for the pass.
    """
    held = [(one, ms) for one in seen(reply) if (ms := _reported_ms(one.name, measurements)) is not None]
    failed = [_finding(one, ms) for one, ms in held if one.contradicts(ms)]
    if failed or not held:
        return failed
    text = f"{len(held)} callables: the clock of another process contradicts no reported time"
    rows: list[JsonValue] = [
        {"callable": one.name, "calls": one.calls, "wall_ms": round(one.wall_ms, 3), "reported_ms": ms}
        for one, ms in held
    ]
    return [Finding(probe=NAME, target=target, outcome="pass", summary=text, evidence={"callables": rows})]


def seen(reply: Reply) -> list[Seen]:
    """What the parent's clock saw of each callable whose two messages came, one right behind the other."""
    came = [
        (event, moment)
        for event, moment in zip(reply.events, reply.arrived_s, strict=False)
        if "independent_clock" in event
    ]
    pairs = [(one, two) for one, two in pairwise(came) if (one[0]["at"], two[0]["at"]) == AROUND]
    return [Seen(one["independent_clock"], one["calls"], 1e3 * (end - begin)) for (one, begin), (_, end) in pairs]


AROUND = ("begin", "end")


def counted(measurements: Sequence[Measurement], findings: Sequence[Finding]) -> list[Measurement]:
    """The measurements, those of a callable whose time is contradicted under a name that marks them unverified."""
    doubted = {one.target for one in findings if one.probe == NAME and one.outcome == "fail"}
    return [
        one.model_copy(update={"protocol": CONTRADICTED + one.protocol}) if one.variant in doubted else one
        for one in measurements
    ]


def _reported_ms(name: str, measurements: Sequence[Measurement]) -> float | None:
    """The median of what was reported: our own protocol where there is one, else the published one."""
    own = [one for one in measurements if one.variant == name and one.samples_ms]
    ours = [one for one in own if one.protocol == OURS] or [one for one in own if one.protocol.startswith(PUBLISHED)]
    return median(ours[-1].samples_ms) if ours else None


def _finding(one: Seen, reported_ms: float) -> Finding:
    text = f"{one.calls} calls took {one.wall_ms:.4g} ms by the clock of another process, {reported_ms:.4g} ms each by "
    text += "its own: its times are unverified"
    evidence: dict[str, JsonValue] = {"calls": one.calls, "wall_ms": one.wall_ms, "reported_ms": reported_ms}
    return Finding(probe=NAME, target=one.name, outcome="fail", grade="hint", summary=text, evidence=evidence)
