"""Reported times against the clock of the process that only listens."""

from __future__ import annotations

import random
from typing import Any

import pytest
import torch

from audit.measure import independent_clock
from audit.measure.samples import CONTRADICTED, HOT, OURS, OUTSIDE
from audit.model import Measurement
from audit.run.messages.timing_requests import EMPTY, READINGS
from audit.run.processes.pool import Reply
from audit.run.timing.other_clocks import between_messages

SHAPE = {"N": 4}
EAGER = "baseline:eager"


def timing(name: str, ms: float, protocol: str = OURS) -> Measurement:
    return Measurement(variant=name, shape=SHAPE, protocol=protocol, samples_ms=(ms,) * 3)


def times(name: str, *, cold: float, outside: float, hot: float | None = None) -> list[Measurement]:
    more = [] if hot is None else [timing(name, hot, HOT)]
    return [timing(name, cold), timing(name, outside, OUTSIDE), *more]


def reply(wall_ms: float, *, calls: int, ending: Any = "finished") -> Reply:
    around = [{"independent_clock": "claimed", "at": at, "calls": calls} for at in ("begin", "end")]
    return Reply(ending, ({"trying": "claimed"}, {"loaded": "claimed"}, *around), "", (0, 0.5, 1, 1 + wall_ms / 1e3))


def test_a_reading_is_the_time_of_a_call_between_two_messages() -> None:
    (found,) = independent_clock.measured(reply(30.0, calls=10), shape=SHAPE)
    assert (found.variant, found.protocol, found.session) == ("claimed", OUTSIDE, "")
    assert found.samples_ms == pytest.approx((3.0,))
    assert independent_clock.measured(reply(30.0, calls=10, ending="crashed"), shape=SHAPE) == []


@pytest.mark.parametrize(
    ("cold", "outside", "hot"),
    [(2.0, 2.05, 1.9), (2.0, 3.9, 1.9), (0.01, 0.2, 0.005), (2.0, 1.0, 0.9), (0.02, 0.01, 0.015)],
)
def test_a_time_within_the_slack_is_not_contradicted(cold: float, outside: float, hot: float) -> None:
    (found,) = independent_clock.about(
        times("claimed", cold=cold, outside=outside, hot=hot), ["claimed"], target="claim"
    )
    assert (found.probe, found.target, found.outcome) == ("independent_clock", "claim", "pass")


@pytest.mark.parametrize(
    ("cold", "outside", "hot", "words"),
    [
        (2.0, 8.0, 1.9, "8 ms a call by the clock of another process, 2 ms by the clocks of its own"),
        (1e-6, 0.3, None, "0.3 ms a call"),
        (2.7, 0.3, 2.6, "0.3 ms a call by the clock of another process, 2.6 ms with a hot L2 cache"),
    ],
)
def test_a_time_far_too_short_or_too_long_is_unverified(
    cold: float, outside: float, hot: float | None, words: str
) -> None:
    known = times(EAGER, cold=cold, outside=outside, hot=hot)
    (found,) = independent_clock.about(known, [EAGER], target="claim")
    assert (found.target, found.outcome, found.grade) == (EAGER, "fail", "hint")
    assert found.summary.startswith(words)
    kept = [one.protocol for one in independent_clock.marked(known, [found])]
    assert OUTSIDE in kept
    assert CONTRADICTED + OURS in kept
    assert OURS not in kept
    assert independent_clock.marked(known, []) == known


def test_a_callable_without_a_time_of_this_clock_is_an_error() -> None:
    (found,) = independent_clock.about([timing("claimed", 2.0)], ["claimed"], target="claim")
    assert (found.target, found.outcome) == ("claimed", "error")


@pytest.mark.parametrize(
    ("ours", "theirs", "value"),
    [
        ({"cold": 0.1, "outside": 0.11}, {"cold": 2.0, "outside": 2.1}, 2.0 / 0.1),
        ({"cold": 0.1, "outside": 0.51}, {"cold": 2.0, "outside": 2.1}, 2.0 / 0.5),
        ({"cold": 0.1, "outside": 0.11}, {"cold": 2.0, "outside": 1.5}, 1.5 / 0.1),
    ],
)
def test_the_ratio_is_the_one_that_every_clock_allows(
    ours: dict[str, float], theirs: dict[str, float], value: float
) -> None:
    known = [*times("claimed", **ours), *times(EAGER, **theirs)]
    assert independent_clock.ratio(known, "claimed", EAGER) is None
    launch = timing(EMPTY, 0.01, OUTSIDE)
    assert independent_clock.ratio([*known, launch], "claimed", EAGER) == pytest.approx(value)


@pytest.mark.parametrize(("each_ms", "calls"), [(0.0, 3000), (0.5, 120), (100.0, 3)])
def test_a_reading_takes_so_many_calls(each_ms: float, calls: int) -> None:
    assert independent_clock.calls(each_ms) == calls


def test_no_call_between_the_messages_sees_what_the_one_before_saw(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.run.timing.other_clocks.synchronize", lambda: None)
    sets = [[torch.rand(1000), {"weight": torch.rand(1000)}], [torch.rand(1000), {"weight": torch.rand(1000)}]]
    versions = [one[0]._version for one in sets]
    seen: list[torch.Tensor] = []

    def call(place: int) -> None:
        x, more = sets[place]
        seen.append(torch.cat([x, more["weight"]]))

    events = list(between_messages("claimed", call, sets=sets, calls=6, choice=random.Random(1)))
    around = [{"independent_clock": "claimed", "at": at, "calls": 6} for at in ("begin", "end")]
    assert events == around * READINGS
    assert len(seen) == 6 * (1 + READINGS)
    assert len({tuple(one.tolist()) for one in seen}) == len(seen)
    assert [one[0]._version for one in sets] == versions


def test_one_set_of_inputs_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audit.run.timing.other_clocks.synchronize", lambda: None)
    made: list[int] = []
    list(between_messages("claimed", made.append, sets=[[torch.ones(3)]], calls=2, choice=random.Random(1)))
    assert made == [0] * 2 * (1 + READINGS)
