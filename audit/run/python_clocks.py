"""Runs in a child: the clocks that Python code reads by the module `time`, which can stand still during claimed calls.

Calls are slow on the emulated device. Where its settings say so, time goes on by a tick a reading and by what is slept,
so that calls seem to follow one another at once, as in `build/emulated/runtime/host_clock.cpp`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

CLOCKS = ("time", "monotonic", "perf_counter", "process_time")
TICK_NS = 100


class PythonClocks:
    """The replaced functions of the module `time`; `still` is whether they stand still inside `call`."""

    def __init__(self) -> None:
        self.still = False
        self._called = False
        self._passed_ns = 0
        for name in CLOCKS:
            reading = self._reading(getattr(time, f"{name}_ns"))
            setattr(time, f"{name}_ns", reading)
            setattr(time, name, _in_seconds(reading))
        setattr(time, "sleep", self._sleeping(time.sleep))  # noqa: B010

    @contextmanager
    def call(self) -> Iterator[None]:
        """Within it claimed code runs; the kit's own readings are those of the machine."""
        self._called = True
        try:
            yield
        finally:
            self._called = False

    def _reading(self, clock: Callable[[], int]) -> Callable[[], int]:
        began: list[int] = []

        def read() -> int:
            if not (self.still and self._called):
                return clock()
            began[:] = began or [clock() - self._passed_ns]
            self._passed_ns += TICK_NS
            return began[0] + self._passed_ns

        return read

    def _sleeping(self, sleep: Callable[[float], None]) -> Callable[[float], None]:
        def slept(seconds: float) -> None:
            sleep(seconds)
            self._passed_ns += round(seconds * 1e9) if self._called else 0

        return slept


def _in_seconds(reading: Callable[[], int]) -> Callable[[], float]:
    return lambda: reading() / 1e9


@cache
def python_clocks() -> PythonClocks:
    """Return the clocks of this process, replaced once and for good."""
    return PythonClocks()
