"""Volatile orders nothing: a value that no fence publishes may be an old one, a value behind a fence never is."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import ORDERS, STALE_ORDERS, located, orders_of
from audit.build.emulated.runtime import STALE
from tests.emulated.child import FOLDER, run

SOURCE = FOLDER / "stale.cu"
LINES = SOURCE.read_text().splitlines()
# in the order of their numbers in the source, with a piece of the line whose read gives an old value
CASES = {
    "no_fence": "before = value[b - 1]",
    "value_first": "if (bad) before = value",
    "whole_block": "before = value[(b - 1) * n",
    "last_block": "sum += value[i]",
    "release": "before = value[b - 1]",
    "sentinel": "do before = value[b - 1]",
    "relay": "out[b] = value[0] + b",
}
_ALL = """
for number in range(COUNT):
    for bad in (False, True):
        for stale in MODES:
            runtime.configure(allocator="poison_nan", stale=stale)
            answer[f"{number} {bad} {stale}"] = [functions["run"](number, bad).tolist(), runtime.reports()]
            runtime.reset()
"""
RIGHT = [float(b + 1) for b in range(8)]


@pytest.fixture(scope="module", params=["O2", "O0"])
def built(request):
    return build(SOURCE, optimisation=request.param)


@pytest.fixture(scope="module")
def outcomes(built):
    return run(built, _ALL.replace("COUNT", str(len(CASES))).replace("MODES", repr(STALE)))


@pytest.mark.parametrize("name", CASES)
def test_what_a_fence_publishes_is_right_in_every_mode(name, outcomes):
    number = list(CASES).index(name)
    assert {stale: outcomes[f"{number} False {stale}"][0] for stale in STALE} == dict.fromkeys(STALE, RIGHT)


@pytest.mark.parametrize("name", CASES)
def test_what_none_publishes_is_wrong_in_a_mode_and_the_line_is_told(name, outcomes, built):
    number = list(CASES).index(name)
    values, reports = outcomes[f"{number} True none"]
    assert (values, reports) == (RIGHT, [])
    wrong = [
        reports for values, reports in (outcomes[f"{number} True {each}"] for each in STALE[1:]) if values != RIGHT
    ]
    assert wrong
    assert {each["kind"] for reports in wrong for each in reports} == {"stale-read"}
    lines = [each["line"] for reports in wrong for each in located(reports, built.library)]
    assert any(line and CASES[name] in LINES[line - 1] for line in lines), lines


@pytest.mark.parametrize("text", ["volatile int* flag", "ld.relaxed.gpu.s32", 'asm("ld.acquire.gpu.s32'])
def test_sources_that_use_volatile_run_with_old_values(text):
    assert orders_of(["", text]) == (*ORDERS[:-1], *STALE_ORDERS, ORDERS[-1])


@pytest.mark.parametrize("text", ['asm volatile("cvt.rn.f16x2.f32")', 'asm __volatile__("")', "involatile"])
def test_others_do_not(text):
    assert orders_of([text]) == ORDERS
