"""Interleaving: every callable in every block, in a new order, more samples for the fast, and an end."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import pytest
import torch

from audit.run.calls.outputs import KeptOutputs
from audit.run.timing.answers import Answers
from audit.run.timing.blocks import (
    COLD,
    HOST,
    HOT,
    LEAST_BLOCKS,
    MOST_CALLS,
    SEEN,
    WARM_MOST_CALLS,
    Blocks,
    Plan,
    calls_in_block,
    settled,
)
from audit.run.timing.contents import Content, Contents
from audit.run.timing.ratios import ratio
from audit.run.timing.stopwatch import Stopwatch, TimedCall


class Watch:
    """Stands for the GPU: a call takes as long as it returns, times the noise."""

    def __init__(self, noise: Callable[[], float]) -> None:
        self.noise = noise
        self.log: list[float] = []

    def cold(self, calls: Sequence[TimedCall]) -> list[float]:
        times = [self.one(timed) for timed in calls]
        self.log += times
        return [one * self.noise() for one in times]

    def hot(self, calls: Sequence[TimedCall]) -> list[float]:
        return self.cold(calls)[1:]

    def host(self, timed: TimedCall) -> float:
        return self.one(timed)

    def one(self, timed: TimedCall) -> float:
        timed.before()
        result: float = timed.call()
        timed.after(result)
        return result


class Given:
    """Stands for the contents and for what results are held against; counts what it is asked for."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.batches: list[int] = []
        self.checked: Counter[str] = Counter()

    def renew(self, count: int) -> None:
        self.batches.append(count)

    def taken(self, owner: str, count: int) -> list[tuple[Content, int]]:  # noqa: ARG002
        return [(Content(row, drawn=row % 2 or None), row % 2) for row in range(count)]

    def write(self, content: Content, buffer_set: int) -> None:
        assert content.row % 2 == buffer_set

    def check(self, name: str, content: Content, result: float, *, block: int) -> None:  # noqa: ARG002
        self.checked[name] += 1

    def settle(self) -> None: ...

    def measure_contrast(self) -> None: ...


def blocks(
    noise: Callable[[], float] = lambda: 1.0, most: int = 14, watch: Watch | None = None, **times_ms: float
) -> tuple[Blocks, Watch, Given]:
    watch, given = watch or Watch(noise), Given(most)
    calls = {name.replace("_", ":"): (lambda _, ms=ms: ms) for name, ms in times_ms.items()}
    kept = KeptOutputs(Path(), each=0, choice=random.Random(1), write=lambda *_: "")
    made = Blocks(
        calls,
        contents=cast(Contents, given),
        answers=cast(Answers, given),
        stopwatch=cast(Stopwatch, watch),
        kept=kept,
        choice=random.Random(1),
    )
    for name in calls:
        made.warm(name)
    return made, watch, given


class Full(Watch):
    """A GPU whose memory is full for the callable that takes so long, after that many of its calls."""

    def __init__(self, takes_ms: float, calls: int) -> None:
        super().__init__(lambda: 1.0)
        self._takes_ms, self._left = takes_ms, calls

    def one(self, timed: TimedCall) -> float:
        found = super().one(timed)
        self._left -= found == self._takes_ms
        if found == self._takes_ms and self._left < 0:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.\nGPU 0 has")
        return found


@pytest.mark.parametrize("calls", [0, 10, 15, 24, 30, 45, 60])
def test_a_callable_without_memory_is_dropped_and_the_others_are_timed(calls: int) -> None:
    made, *_ = blocks(watch=Full(0.5, calls), baseline_eager=3.0, claim=0.5, other=0.2)
    if calls:
        made.repeat("claim", "again")
    ended = made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert ended["blocks"] == LEAST_BLOCKS
    assert {name: len(set(of[COLD].blocks)) for name, of in made.taken.items()} == {"baseline:eager": 12, "other": 12}
    why = (
        "OutOfMemoryError: the GPU's memory, which other processes and the audit use too, is full: CUDA out of memory."
    )
    assert [text.startswith(why) for text in made.dropped.values()] == [True] * (calls > 0)


def test_a_session_ends_where_no_callable_has_memory() -> None:
    made, *_ = blocks(watch=Full(0.5, 10), claim=0.5)
    made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert (made.taken, list(made.dropped)) == ({}, ["claim"])


def test_every_callable_is_in_every_block_and_the_order_changes() -> None:
    made, *_ = blocks(baseline_eager=3.0, claim=0.5, other=0.2)
    made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert made.block == LEAST_BLOCKS, "without noise the least number of blocks is enough"
    for name, each in (("baseline:eager", 1), ("claim", 4), ("other", MOST_CALLS)):
        cold = made.taken[name][COLD]
        assert Counter(cold.blocks) == dict.fromkeys(range(LEAST_BLOCKS), each)
        assert len(set(cold.positions)) > 1
        assert {HOT, HOST, SEEN} < set(made.taken[name])


def test_noise_needs_more_blocks_and_a_budget_ends_them() -> None:
    draw = random.Random(5)
    made, *_ = blocks(lambda: 1 + 0.1 * draw.random(), baseline_eager=3.0, claim=2.5)
    ended = made.run(Plan(budget_s=20.0, half_width=0.01), between=lambda _: None)
    assert ended["tight"]
    assert ended["blocks"] > LEAST_BLOCKS
    made, *_ = blocks(lambda: 1 + draw.random(), baseline_eager=3.0, claim=2.5)
    assert not made.run(Plan(budget_s=0.05, half_width=1e-9), between=lambda _: None)["tight"]


@pytest.mark.parametrize("wrong", [-0.5, float("nan"), float("inf"), 4e9])
def test_times_that_no_clock_can_give_are_left_out_and_counted(wrong: float) -> None:
    made, watch, _ = blocks(baseline_eager=3.0, claim=2.5)
    watch.noise = iter([wrong] * 4 + [1.0] * 10_000).__next__
    ended = made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert ended["left_out"] == 4
    taken = made.taken["claim"][COLD]
    assert set(taken.samples_ms) == {2.5}
    assert min(taken.blocks) > 0, "the first block has no ratio"
    with pytest.raises(RuntimeError, match="its clock gave no time from 0 to"):
        blocks(lambda: wrong, baseline_eager=3.0)


def test_the_driver_is_asked_between_blocks_with_their_numbers() -> None:
    made, *_ = blocks(baseline_eager=3.0, claim=2.5)
    asked: list[int] = []
    made.run(Plan(budget_s=1.0, half_width=0.01), between=asked.append)
    assert asked == list(range(LEAST_BLOCKS))


def test_the_control_is_a_callable_under_a_second_name() -> None:
    made, *_ = blocks(baseline_eager=3.0, claim=0.5)
    assert made.fastest() == "claim"
    made.repeat("claim", "control:again:claim")
    made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert made.taken["control:again:claim"][COLD].samples_ms == made.taken["claim"][COLD].samples_ms


def test_there_are_contents_for_every_call_of_a_block_and_every_result_is_held_against_something() -> None:
    made, watch, given = blocks(baseline_eager=3.0, claim=0.2)
    warm = len(watch.log)
    made.repeat("claim", "control:again:claim")
    made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert set(given.batches) == {2 * MOST_CALLS, 1 + MOST_CALLS, 2}
    hosted = sum(len(taken[HOST].samples_ms) for name, taken in made.taken.items() if HOST in taken)
    assert sum(given.checked.values()) == len(watch.log) + hosted
    assert given.checked["claim"] > given.checked["baseline:eager"] > warm // 2 - 1
    assert set(made.taken["control:again:claim"]) == {COLD}


def test_few_contents_bound_the_calls_of_a_block() -> None:
    made, *_ = blocks(most=4, baseline_eager=3.0, claim=0.2, other=0.2)
    made.repeat("claim", "control:again:claim")
    made.run(Plan(budget_s=1.0, half_width=0.01), between=lambda _: None)
    assert Counter(made.taken["claim"][COLD].blocks) == dict.fromkeys(range(LEAST_BLOCKS), 2)
    assert Counter(made.taken["other"][COLD].blocks) == dict.fromkeys(range(LEAST_BLOCKS), 4)


def test_the_warm_up_ends_when_steady_and_at_its_cap_when_not() -> None:
    made, *_ = blocks(baseline_eager=3.0)
    assert made.warm("baseline:eager") == {
        "warmed": "baseline:eager", "calls": 10, "stable": True, "first_ms": 3.0, "last_ms": 3.0,
    }  # fmt: skip
    growing = iter(range(1, 10_000))
    restless, *_ = blocks(lambda: float(next(growing)) ** 2, baseline_eager=3.0)
    result = restless.warm("baseline:eager")
    assert (result["stable"], result["calls"]) == (False, WARM_MOST_CALLS)


def test_every_variant_against_every_baseline_decides_when_to_stop() -> None:
    draw = random.Random(5)
    made, *_ = blocks(baseline_eager=3.0, baseline_other=3.0, claim=2.5)
    restless = made._calls["baseline:other"]
    made._calls["baseline:other"] = lambda buffer_set: restless(buffer_set) * (1 + 0.2 * draw.random())
    ended = made.run(Plan(budget_s=20.0, half_width=0.01), between=lambda _: None)
    widths = {name: ratio(made.taken["claim"][COLD], made.taken[name][COLD]).half_width or 0.0 for name in
              ("baseline:eager", "baseline:other")}  # fmt: skip
    assert ended["tight"]
    assert ended["blocks"] > LEAST_BLOCKS
    assert widths["baseline:eager"] == 0.0
    assert made.widest() == widths["baseline:other"] <= 0.01


def test_groups_settle_and_fast_calls_get_more_samples() -> None:
    assert settled([5.0, 1.0, 1.0, 1.005, 1.0], group=2, tolerance=0.01)
    assert not settled([1.0, 1.0, 1.0], group=2, tolerance=0.01)
    assert not settled([1.0, 1.0, 1.1, 1.1], group=2, tolerance=0.01)
    assert [calls_in_block(ms, share_ms=2.0, most=6) for ms in (0.0, 0.3, 1.0, 8.0)] == [6, 6, 2, 1]
