"""A read past a tensor or a shared array is out of bounds, however far: it never counts as one of the other memory."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from tests.emulated.child import FOLDER, run

ARRAYS = (
    "none",
    "behind tensor",
    "before tensor",
    "behind shared",
    "before shared",
    "behind dynamic",
    "before dynamic",
)
SHIFTS = (1, 1024, 2048, 1 << 18)  # elements of 4 bytes
_ALL = """
for bad in range(COUNT):
    for shift in SHIFTS:
        runtime.configure(allocator="poison_nan", checker=True)
        functions["overrun"](torch.ones(4), bad, shift)
        answer[f"{bad} {shift}"] = runtime.reports()
        runtime.reset()
        runtime.recover()
"""


@pytest.fixture(scope="module")
def reports():
    code = _ALL.replace("COUNT", str(len(ARRAYS))).replace("SHIFTS", repr(SHIFTS))
    return run(build(FOLDER / "overruns.cu"), code)


@pytest.mark.parametrize("shift", SHIFTS)
@pytest.mark.parametrize("array", ARRAYS)
def test_an_overrun_is_out_of_bounds_and_nothing_else(array, shift, reports):
    found = reports[f"{ARRAYS.index(array)} {shift}"]
    kinds = [each["kind"] for each in found]
    if array == "none":
        assert kinds == []
        return
    assert kinds in (["out-of-bounds-read"], ["out-of-bounds-read", "illegal-address"])
    assert ("shared variable" in found[0]["message"]) == ("tensor" not in array)


def test_the_tensor_that_is_overrun_is_named(reports):
    assert reports[f"1 {SHIFTS[0]}"][0]["message"] == "reads 4 bytes past the end of a block of 16384 bytes"
    assert reports["1 1024"][0]["message"] == "reads 4 bytes past the end of a block of 16384 bytes"
