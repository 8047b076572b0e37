"""How a report about behaviour is graded, by who made it and about what."""

from __future__ import annotations

import pytest

from audit.probes.concluding import behaviour

OWN = frozenset({"own_kernel"})

OUTSIDE = "writes 4 bytes outside every shared variable"
ANOTHER = f"{OUTSIDE}, {behaviour.MAY_BE_SHARED}"


@pytest.mark.parametrize(
    ("report", "depends", "grade"),
    [
        ({"kind": "race-shared", "kernel": "own_kernel"}, False, "undefined"),
        ({"kind": "race-shared", "kernel": "own_kernel", "tool": "racecheck"}, False, "hint"),  # it compares no values
        ({"kind": "out-of-bounds-read", "kernel": "own_kernel", "tool": "memcheck"}, False, "proved"),
        ({"kind": "out-of-bounds-write", "kernel": "own_kernel", "message": OUTSIDE}, False, "proved"),
        ({"kind": "out-of-bounds-write", "kernel": "own_kernel", "message": ANOTHER}, False, "undefined"),
        ({"kind": "out-of-bounds-read", "kernel": "at::native::copy", "tool": "memcheck"}, False, "hint"),
        ({"kind": "warp-mask", "kernel": "own_kernel", "tool": "synccheck"}, False, "undefined"),
        ({"kind": "barrier-divergence", "kernel": "own_kernel", "tool": "synccheck"}, False, "hint"),
        ({"kind": "uninitialised-read", "kernel": "own_kernel"}, True, "undefined"),
        ({"kind": "uninitialised-read", "kernel": "own_kernel"}, False, "hint"),
        ({"kind": "constant-write", "kernel": "own_kernel"}, False, "undefined"),
        ({"kind": "copy-refused", "kernel": "cudaMemcpyToSymbol"}, True, "hint"),  # the values decide
    ],
)
def test_a_report_counts_by_its_observer(report: dict[str, str], depends: bool, grade: str) -> None:
    assert behaviour.grade({"message": "a word", **report}, own=OWN, depends=depends) == grade


BETWEEN_WARPS = "reads a word that another thread of the launch writes, and no barrier, fence or atomic orders the two"
BETWEEN_LANES = f"reads a word that {behaviour.WITHIN_A_WARP} writes, and no barrier or atomic orders the two"


@pytest.mark.parametrize(
    ("seen", "interleave"),
    [
        ([], False),
        ([("race-shared", BETWEEN_WARPS)], False),
        ([("race-shared", BETWEEN_LANES)], True),
        ([("race-global", BETWEEN_LANES), ("uninitialised-read", "a word")], True),
        ([("race-shared", BETWEEN_LANES), ("race-shared", BETWEEN_WARPS)], False),
        ([("race-shared", BETWEEN_WARPS), ("warp-mask", "a lane")], True),
    ],
)
def test_lanes_of_a_warp_may_run_in_more_orders_than_are_tested(seen: list[tuple[str, str]], interleave: bool) -> None:
    assert behaviour.lanes_interleave(seen) is interleave
