"""Time callables in interleaved blocks, each in a new random order.

Clocks, temperature and other load change from second to second; the callables of one block share them, so their ratio
is unaffected. Every call gets a content that its callable has not seen in this block; `answers` compares its result.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from audit.model.record import LONGEST_MS, MOST_BLOCKS
from audit.run.calls.arguments import named
from audit.run.calls.outputs import KeptOutputs
from audit.run.timing.answers import Answers
from audit.run.timing.callables import PREFIX, Indexed
from audit.run.timing.contents import Content, Contents
from audit.run.timing.ratios import Samples, ratio
from audit.run.timing.stopwatch import Stopwatch, TimedCall

WARM_GROUP, WARM_TOLERANCE = 5, 0.01
WARM_MOST_S, WARM_MOST_CALLS = 0.25, 60
SHARE_MS, MOST_CALLS = 2.0, 6
"""A callable gets as many samples a block as fit into this time, from one to six."""
LEAST_BLOCKS = 12
LOOKS = 1.5
"""The widths of the intervals are tested after the least number of blocks, and again each time the number of blocks has
grown by this factor: a test after every block would stop more often where the intervals are narrow by chance."""
OVERRUN = 4.0
"""The most budgets to spend on the least number of blocks."""
HOT_EVERY, HOST_EVERY, SEEN_EVERY = 4, 3, 4
"""The number of blocks after which each callable is also timed hot, by the host clock, or with a content just seen."""
COLD, HOT, HOST, SEEN = "cold", "hot", "host", "seen"


@dataclass(frozen=True)
class Plan:
    """When to stop: at this relative half width of the ratios' intervals, or after these seconds of blocks."""

    budget_s: float
    half_width: float
    least_blocks: int = LEAST_BLOCKS


class Blocks:
    """A timing session over callables by name; each takes the number of a buffer set of `contents`."""

    def __init__(
        self,
        calls: Mapping[str, Indexed],
        *,
        contents: Contents,
        answers: Answers,
        stopwatch: Stopwatch,
        kept: KeptOutputs,
        choice: random.Random,
    ) -> None:
        self._calls = dict(calls)
        self._contents, self._answers, self._stopwatch = contents, answers, stopwatch
        self._kept, self._choice = kept, choice
        self._each: dict[str, int] = {}
        self._again: dict[str, str] = {}
        self.taken: dict[str, dict[str, Samples]] = {}
        self.dropped: dict[str, str] = {}
        """Why callables were dropped: the GPU's memory was full."""
        self.block = self.left_out = 0

    def warm(self, name: str) -> dict[str, Any]:
        """Call until two groups of five calls agree within a percent, or until a cap; return the event about it.

        Where the GPU's memory is full the callable is dropped, and the event says so.
        """
        recent: list[float] = []
        started = time.perf_counter()
        while not settled(recent, group=WARM_GROUP, tolerance=WARM_TOLERANCE):
            if len(recent) >= WARM_MOST_CALLS or time.perf_counter() - started > WARM_MOST_S:
                break
            with self._in_memory(name):
                recent += self._possible(self._stopwatch.cold(self._bound(name, 1)))
            if name in self.dropped:
                return {"failed": name, "why": self.dropped.pop(name)}
        self._answers.settle()
        if not recent:
            raise RuntimeError(f"{name}: its clock gave no time from 0 to {LONGEST_MS:g} ms")
        stable = settled(recent, group=WARM_GROUP, tolerance=WARM_TOLERANCE)
        self._each[name] = calls_in_block(median(recent), share_ms=SHARE_MS, most=MOST_CALLS)
        return {"warmed": name, "calls": len(recent), "stable": stable, "first_ms": recent[0], "last_ms": recent[-1]}

    def repeat(self, name: str, again: str) -> None:
        """Time the callable a second time under another name, as the control."""
        self._calls[again] = self._calls[name]
        self._each[again] = self._each[name]
        self._again[again] = name

    def fastest(self) -> str:
        """Return a warm callable with the most samples a block: noise shows there first."""
        return max(self._each, key=lambda name: self._each[name])

    def run(self, plan: Plan, *, between: Callable[[int], None]) -> dict[str, Any]:
        """Run blocks until the plan is met; call `between` with each block's number, outside timed regions."""
        started, tight = time.perf_counter(), False
        least = look = min(plan.least_blocks, MOST_BLOCKS)
        while True:
            between(self.block)
            self._one_block()
            spent = time.perf_counter() - started
            if self.block == look:
                tight, look = self.widest() <= plan.half_width, math.ceil(LOOKS * look)
            limit_s = plan.budget_s if self.block >= least else OVERRUN * plan.budget_s
            if tight or spent > limit_s or self.block >= MOST_BLOCKS:
                return {"blocks": self.block, "seconds": round(spent, 3), "tight": tight, "left_out": self.left_out}

    def widest(self) -> float:
        """Return the widest half width among the ratios of all variants to all baselines; inf for too few blocks."""
        cold = {name: samples[COLD] for name, samples in self.taken.items() if COLD in samples}
        baselines = [name for name in cold if name.startswith(PREFIX)]
        ratios = [ratio(cold[name], cold[other]) for name in cold.keys() - baselines for other in baselines]
        return max((math.inf if one.half_width is None else one.half_width for one in ratios), default=0.0)

    def _one_block(self) -> None:
        order = self._choice.sample(sorted(self._each), len(self._each))
        own = [(position, name) for position, name in enumerate(order) if name not in self._again]
        counts, clocks = self._counts(), self._stopwatch
        most = max(counts.values(), default=0)
        twice = max((counts[name] * (1 + (name in self._again.values())) for name in self._each), default=1)

        def take(
            clock: str, order: Iterable[tuple[int, str]], contents: int, timed: Callable[[str], list[float]]
        ) -> None:
            self._renew(contents)
            for position, name in order:
                if name in self._each:
                    with self._in_memory(name):
                        self._add(name, clock, timed(name), position)

        take(COLD, enumerate(order), twice, lambda name: clocks.cold(self._bound(name, counts[name], keep=True)))
        if self.block % HOT_EVERY == 1:
            take(HOT, own, 1 + most, lambda name: clocks.hot(self._bound(name, 1 + counts[name])))
        if self.block % HOST_EVERY == 2:
            take(HOST, own, 2, lambda name: [round(clocks.host(self._bound(name, 1)[0]), 6)])
        if self.block % SEEN_EVERY == 3:
            take(SEEN, own, 2, lambda name: clocks.cold(self._bound(name, 1) * 2)[1:])
        self.block += 1

    @contextmanager
    def _in_memory(self, name: str) -> Iterator[None]:
        """Drop a callable, its second name and the samples of both where a call or its comparison finds no memory."""
        try:
            yield
        except torch.OutOfMemoryError as error:
            owner = self._again.get(name, name)
            self.dropped[owner] = named(error)
            for one in [owner, *(again for again, of in self._again.items() if of == owner)]:
                self._each.pop(one, None)
                self.taken.pop(one, None)

    def _renew(self, count: int) -> None:
        self._answers.settle()
        self._contents.renew(count)
        self._answers.measure_contrast()

    def _counts(self) -> dict[str, int]:
        """Return the calls of each callable in a block: at most one a content, half as many under two names."""
        twice = {*self._again, *self._again.values()}
        most = self._contents.most
        return {name: max(1, min(each, most // (2 if name in twice else 1))) for name, each in self._each.items()}

    def _add(self, name: str, how: str, times: list[float], position: int) -> None:
        if possible := self._possible(times):
            samples = self.taken.setdefault(name, {}).setdefault(how, Samples())
            samples.add(possible, block=self.block, position=position)

    def _possible(self, times: list[float]) -> list[float]:
        """Return the times without impossible ones, from a clock that jumped, which are counted."""
        possible = [ms for ms in times if 0 <= ms <= LONGEST_MS]
        self.left_out += len(times) - len(possible)
        return possible

    def _bound(self, name: str, count: int, *, keep: bool = False) -> list[TimedCall]:
        """Return calls of one callable, each over another content; `keep` the results of some that are as drawn."""
        owner = self._again.get(name, name)
        taken = self._contents.taken(owner, count)
        drawn = [index for index, (content, _) in enumerate(taken) if content.drawn is not None]
        slots = self._kept.wanted(name, len(drawn)) if keep and name not in self._again else {}
        kept = {drawn[index]: slot for index, slot in slots.items()}
        return [
            self._timed(owner, content, buffer_set, slot=kept.get(index))
            for index, (content, buffer_set) in enumerate(taken)
        ]

    def _timed(self, name: str, content: Content, buffer_set: int, *, slot: int | None) -> TimedCall:
        function, block = self._calls[name], self.block

        def after(result: Any) -> None:
            self._answers.check(name, content, result, block=block)
            if slot is not None and content.drawn is not None:
                self._kept.keep(name, slot, result, inputs=content.drawn, block=block)

        return TimedCall(
            lambda: function(buffer_set), before=lambda: self._contents.write(content, buffer_set), after=after
        )


def settled(recent: Sequence[float], *, group: int, tolerance: float) -> bool:
    """Return whether the medians of the last two groups of calls agree within the relative tolerance."""
    if len(recent) < 2 * group:
        return False
    before, after = median(recent[-2 * group : -group]), median(recent[-group:])
    return abs(after - before) <= tolerance * before


def calls_in_block(call_ms: float, *, share_ms: float, most: int) -> int:
    """Return the samples of a callable in each block, from 1 to `most`; a fast one gets more."""
    return max(1, min(most, round(share_ms / max(call_ms, 1e-6))))
