"""A reported time against the clock of the process that only listens."""

from __future__ import annotations

from typing import Any

import pytest

from audit.measure import independent_clock
from audit.measure.protocols import CONTRADICTED, OURS
from audit.measure.samples import measurements_of
from audit.run.other_clocks import FEWEST, MOST, between_messages
from audit.run.pool import Reply

SHAPE = {"N": 4}


def reply(each_ms: float, wall_ms: float, *, calls: int = 10, name: str = "claimed") -> Reply:
    around = [{"independent_clock": name, "at": at, "calls": calls} for at in ("begin", "end")]
    samples = {"variant": name, "how": "cold", "samples_ms": [each_ms] * 3, "blocks": [0, 1, 2], "positions": [0, 0, 0]}
    return Reply("finished", (samples, *around), "", (0.5, 1.0, 1.0 + wall_ms / 1e3))


def about(one: Reply) -> list[Any]:
    return independent_clock.about(one, measurements_of(one.events, session="ladder", shape=SHAPE), target="claim")


@pytest.mark.parametrize(("each_ms", "wall_ms"), [(2.0, 20.5), (2.0, 39.0), (0.01, 5.0), (2.0, 1.0)])
def test_a_time_within_the_slack_is_not_contradicted(each_ms: float, wall_ms: float) -> None:
    (found,) = about(reply(each_ms, wall_ms))
    assert (found.probe, found.target, found.outcome) == ("independent_clock", "claim", "pass")


@pytest.mark.parametrize(("each_ms", "wall_ms"), [(2.0, 80.0), (0.01, 30.0), (0.0, 25.0)])
def test_a_time_far_too_short_is_an_exhibit_only(each_ms: float, wall_ms: float) -> None:
    one = reply(each_ms, wall_ms)
    reported = measurements_of(one.events, session="ladder", shape=SHAPE)
    (found,) = independent_clock.about(one, reported, target="claim")
    assert (found.target, found.outcome, found.grade) == ("claimed", "fail", "hint")
    assert [kept.protocol for kept in independent_clock.counted(reported, [found])] == [CONTRADICTED + OURS]
    assert independent_clock.counted(reported, []) == reported


def test_half_a_witness_says_nothing() -> None:
    whole = reply(2.0, 500.0)
    assert about(Reply("crashed", whole.events[:2], "", whole.arrived_s[:2])) == []
    assert about(Reply("finished", whole.events[:1], "", whole.arrived_s[:1])) == []


@pytest.mark.parametrize(("each_ms", "calls"), [(0.0, MOST), (0.5, 40), (100.0, FEWEST)])
def test_the_calls_are_made_between_the_two_messages(
    monkeypatch: pytest.MonkeyPatch, each_ms: float, calls: int
) -> None:
    monkeypatch.setattr("audit.run.other_clocks.synchronize", lambda: None)
    made: list[int] = []
    events = between_messages("claimed", made.append, each_ms=each_ms)
    assert (next(events)["at"], len(made)) == ("begin", 1), "the first call loads the kernel"
    assert (next(events), len(made)) == ({"independent_clock": "claimed", "at": "end", "calls": calls}, 1 + calls)
