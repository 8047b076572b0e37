"""A limit of a session: seconds in which others have the processor do not count, up to a bound; all others do."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from audit.sandbox import processes

LIMIT_S, WORK_S, RIVALS = 1.0, 0.5, 3
counted = pytest.mark.skipif(not Path("/proc/self/schedstat").is_file(), reason="the kernel counts no waiting time")


def work() -> None:
    while time.process_time() < WORK_S:
        pass


def rival() -> None:
    while True:
        pass


@contextmanager
def children(*bodies: Callable[[], None]) -> Iterator[int]:
    """The first of several processes that share one core."""
    core = {min(os.sched_getaffinity(0))}
    started = []
    for body in bodies:
        if not (child := os.fork()):
            os.sched_setaffinity(0, core)
            body()
            os._exit(0)
        started.append(child)
    try:
        yield started[0]
    finally:
        for child in started:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def ended(child: int) -> bool:
    return os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


@counted
def test_a_process_that_waits_for_the_processor_is_not_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_PATIENCE", 1000.0)  # of a machine under any load
    with children(work, *[rival] * RIVALS) as child:
        deadline, started = processes.Deadline(LIMIT_S), time.monotonic()
        while not ended(child):
            assert not deadline.over()
            time.sleep(0.05)
    assert time.monotonic() - started > LIMIT_S


def test_a_process_that_waits_for_something_else_is_late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_PATIENCE", 1000.0)
    with children(lambda: time.sleep(600.0)):
        deadline = processes.Deadline(LIMIT_S)
        assert not deadline.over()
        while not deadline.over():
            time.sleep(0.05)


@counted
def test_a_process_that_starves_itself_is_late_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "MOST_PATIENCE", 1.5)
    with children(rival, *[rival] * RIVALS):
        deadline = processes.Deadline(0.4)
        time.sleep(0.7)
        assert deadline.over()
