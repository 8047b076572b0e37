"""Between two calls the clocks of host code go on with the machine's, or stand still where the settings say so."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from tests.emulated.child import FOLDER, run

CLOCKS = ("steady_clock", "system_clock", "clock_gettime", "gettimeofday", "nanosleep", "time")
PAUSE_NS, SLEPT_NS = 20_000_000, 30_000_000
_ALL = """
import time
for still in (False, True):
    runtime.configure(still_clock=still)
    for clock in range(COUNT):
        functions["since"](clock)
        time.sleep(PAUSE / 1e9)
        answer[f"{clock} {still}"] = functions["since"](clock)
"""


@pytest.fixture(scope="module")
def passed():
    code = _ALL.replace("COUNT", str(len(CLOCKS))).replace("PAUSE", str(PAUSE_NS))
    return run(build(FOLDER / "host_clock.cu"), code)


@pytest.mark.parametrize("clock", CLOCKS[:4])
def test_a_clock_goes_on_or_stands_still(clock, passed):
    number = CLOCKS.index(clock)
    assert passed[f"{number} False"] >= PAUSE_NS
    assert 0 <= passed[f"{number} True"] <= 10_000


def test_what_is_slept_passes_on_a_clock_that_stands_still(passed):
    assert passed["4 False"] >= PAUSE_NS + SLEPT_NS
    assert SLEPT_NS <= passed["4 True"] <= SLEPT_NS + 10_000
