"""An access past a shared array may lie in another one of the block on a GPU, where that has others of such a size."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from audit.probes.concluding.behaviour import MAY_BE_SHARED
from tests.emulated.child import FOLDER, run

OUTSIDE = "reads 4 bytes outside every shared variable"
OF_ANOTHER, OF_A_UNIT = f"{OUTSIDE}, {MAY_BE_SHARED[0]}", f"{OUTSIDE}, in shared memory {MAY_BE_SHARED[1]}"
# arrays (1: one of 128 bytes; 2: that and one of 1,024 bytes; 3: that and 1,024 bytes of the launch), index, message
ASKED = [
    (1, 31, None),
    (1, 32, OF_A_UNIT),
    (1, 63, OF_A_UNIT),
    (1, 64, OUTSIDE),
    (1, -1, OF_A_UNIT),
    (1, -257, OUTSIDE),
    (2, 31, None),
    (2, 40, OF_ANOTHER),
    (2, 287, OF_ANOTHER),
    (2, 288, OF_A_UNIT),
    (2, 320, OUTSIDE),
    (2, -2, OF_ANOTHER),
    (3, 40, OF_ANOTHER),
    (3, 5000, OUTSIDE),
]
_ALL = """
for arrays, place in ASKED:
    runtime.configure(allocator="poison_nan", checker=True)
    functions["overrun"](arrays, place)
    answer[f"{arrays} {place}"] = [each["message"] for each in runtime.reports() if "bounds" in each["kind"]]
    runtime.reset()
    runtime.recover()
"""


@pytest.fixture(scope="module")
def messages():
    asked = [(arrays, place) for arrays, place, _ in ASKED]
    return run(build(FOLDER / "shared_arrays.cu"), _ALL.replace("ASKED", repr(asked)))


@pytest.mark.parametrize(("arrays", "place", "message"), ASKED)
def test_an_access_past_one_array_may_lie_in_another_of_the_block(arrays, place, message, messages):
    assert messages[f"{arrays} {place}"] == ([] if message is None else [message])
