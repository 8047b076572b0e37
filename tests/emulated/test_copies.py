"""Copies of memory in device code are checked as loads and stores are, whatever the compiler makes of them."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import located
from tests.emulated.child import FOLDER, run

SOURCE = FOLDER / "bad_copies.cu"
LINES = SOURCE.read_text().splitlines()
COPIES = ("by_memcpy", "by_memmove", "by_macro", "by_constant", "by_struct", "by_copy_loop")
FILLS = ("by_memset", "by_zero_loop", "by_atomic")
_ALL = """
runtime.configure(allocator="poison_nan", checker=True)
for name in NAMES:
    for more in (0, 1):
        in_ = torch.ones(32)
        out = functions[name](in_, 32 + more)
        answer[f"{name} {more}"] = [runtime.reports(), out.tolist()]
        runtime.reset()
"""


@pytest.fixture(scope="module", params=["O2", "O0"])
def built(request):
    return build(SOURCE, optimisation=request.param)


@pytest.fixture(scope="module")
def outcomes(built):
    return run(built, _ALL.replace("NAMES", repr([*COPIES, *FILLS, "racing"])))


@pytest.mark.parametrize("name", [*COPIES, *FILLS])
def test_past_the_end_is_reported_and_up_to_the_end_is_not(name, outcomes, built):
    reports, out = outcomes[f"{name} 0"]
    assert reports == []
    assert name not in COPIES or out[26:] == [1.0] * 6
    bad = located(outcomes[f"{name} 1"][0], built.library)
    kinds = {"out-of-bounds-write", "out-of-bounds-read"} if name in COPIES else {"out-of-bounds-write"}
    assert {one["kind"] for one in bad} == kinds
    place = next(number for number, line in enumerate(LINES, 1) if f"void {name}(" in line)
    exact = name not in ("by_atomic", "by_macro")  # the last instruction of its kernel, or the macro's line
    assert not exact or all(one["line"] is not None and place <= one["line"] <= place + 2 for one in bad)


def test_two_threads_that_fill_one_range_race(outcomes):
    assert {one["kind"] for one in outcomes["racing 0"][0]} == {"race-global"}
