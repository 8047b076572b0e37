"""Between two calls the clocks of Python code go on with the machine's, or stand still where the settings say so."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.build.settings import QUICK
from audit.run.devices.emulated import CLOCKS
from audit.run.processes.pool import Workers
from tests.run.test_python_session import asked, value

GAP = """
import time
last = [0.0]
def forward(x):
    began, last[0] = last[0], time.{clock}()
    {sleep}
    gap = time.{clock}() - began
    last[0] = time.{clock}()
    return x * 0 + gap
"""
LEAST_S, SLEPT_S, TICKS_S = 2e-5, 0.01, 1e-5
"""No call of this device is shorter; what a call sleeps; the most between two calls where clocks stand still."""
WORK = "sum(range(1_000_000))"
"""More than the coarsest step of a clock of processor time."""


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("still", [False, True])
def test_a_clock_goes_on_or_stands_still(workers: Workers, tmp_path: Path, clock: str, *, still: bool) -> None:
    text = GAP.format(clock=clock, sleep="" if still else WORK)
    reply = asked(workers, tmp_path, text, "claim", "claim", order=QUICK if still else "forward")
    assert reply.finished
    (gap, *_) = value(tmp_path, 1)
    assert gap <= TICKS_S if still else gap >= LEAST_S or clock == "time"  # float32 holds no time of day


def test_what_is_slept_passes_on_a_clock_that_stands_still(workers: Workers, tmp_path: Path) -> None:
    text = GAP.format(clock="perf_counter", sleep=f"time.sleep({SLEPT_S})")
    assert asked(workers, tmp_path, text, "claim", "claim", order=QUICK).finished
    (gap, *_) = value(tmp_path, 1)
    assert SLEPT_S <= gap <= SLEPT_S + TICKS_S


def test_the_readings_of_the_session_itself_go_on(workers: Workers, tmp_path: Path) -> None:
    reply = asked(
        workers, tmp_path, "import time\n" + GAP.format(clock="monotonic", sleep="sum(range(300000))"), order=QUICK
    )
    assert reply.events[-1]["seconds"] > 1e-3
