"""A part of a grid: no block is run, or a few are, and it is known which bytes they wrote."""

from __future__ import annotations

from typing import Any

import pytest

from audit.build.emulated.build import build
from tests.emulated.child import FOLDER, run

ROWS, COLS, BLOCKS = 5000, 64, 20

_PARTS = f"""
x = torch.randn({ROWS}, {COLS})
runtime.configure(allocator="poison_nan", blocks={BLOCKS}, seed=7)
for zeros in (False, True):
    y = functions["rows"](x, zeros)
    blanked = runtime.blank_unwritten(y)
    written = (y.view(torch.int32) != POISON_NAN - (1 << 32)).all(1).nonzero().flatten().tolist()
    right = all(torch.equal(y[row], 2 * x[row]) for row in written)
    answer[f"rows {{zeros}}"] = [blanked, written, right, runtime.launches()[-1]]
    runtime.reset()
small = x[:10].contiguous()
y = functions["rows"](small, False)
answer["small"] = [runtime.launches()[-1]["blocks_run"], runtime.blank_unwritten(y), torch.equal(y, 2 * small)]
functions["sum"](x)
answer["sum"] = runtime.launches()[-1]
h = torch.randn(1024, 600).half()
y = functions["halves"](h)
runtime.blank_unwritten(y)
bits = y.view(torch.int16)
kept = bits != (POISON_NAN & 0xFFFF) - (1 << 16)
answer["halves"] = [int(kept.sum()), bool((y == h)[kept].all()), kept.any(0).nonzero().flatten().tolist()]
answer["elsewhere"] = runtime.blank_unwritten(early)
runtime.configure(allocator="poison_nan", blocks=3, sparing=True)
functions["rows"](small, False)
answer["sparing"] = runtime.launches()[-1]["blocks_run"]
runtime.configure(allocator="poison_nan", blocks={BLOCKS}, seed=8)
functions["rows"](x, False)
again = functions["rows"](x, True)
runtime.blank_unwritten(again)
answer["other seed"] = (again.view(torch.int32) != POISON_NAN - (1 << 32)).all(1).nonzero().flatten().tolist()
"""
_NONE = """
runtime.configure(blocks=0)
large = torch.empty(1 << 16, 1 << 13)
functions["rows"](large, False)
functions["wraps"](large)
answer["launches"] = runtime.launches()
answer["reports"] = [report["kind"] for report in runtime.reports()]
runtime.reset()
runtime.recover()
functions["rows"](torch.empty(1 << 27, 1), False)
answer["many"] = runtime.launches()[-1]
with open("/proc/self/status") as status:
    lines = dict(line.split(":", 1) for line in status)
answer["resident_mib"] = int(lines["VmRSS"].split()[0]) // 1024
"""


@pytest.fixture(scope="module")
def parts() -> dict[str, Any]:
    result: dict[str, Any] = run(build(FOLDER / "part_kernels.cu", optimisation="O2"), _PARTS)
    return result


@pytest.mark.parametrize("zeros", [False, True])
def test_a_few_blocks_are_run_and_only_what_they_wrote_is_left(parts: dict[str, Any], zeros: bool) -> None:
    blanked, written, right, launch = parts[f"rows {zeros}"]
    assert blanked
    assert right
    assert len(written) == launch["blocks_run"] == BLOCKS
    assert {0, ROWS - 1} <= set(written)
    assert (launch["grid"], launch["atomics"]) == ([ROWS, 1, 1], False)


def test_another_seed_draws_others(parts: dict[str, Any]) -> None:
    assert set(parts["other seed"]) & set(parts["rows True"][1]) < set(parts["rows True"][1])


def test_a_grid_of_few_threads_is_run_whole_unless_sparing(parts: dict[str, Any]) -> None:
    assert parts["small"] == [10, False, True]
    assert parts["sparing"] == 3


def test_atomic_operations_are_told(parts: dict[str, Any]) -> None:
    assert parts["sum"]["atomics"] is True


def test_writes_are_known_byte_by_byte(parts: dict[str, Any]) -> None:
    kept, right, columns = parts["halves"]
    assert right
    assert all(column % 2 == 0 for column in columns)
    assert kept == 1024 * len(columns)


def test_memory_of_the_host_cannot_be_blanked(parts: dict[str, Any]) -> None:
    assert parts["elsewhere"] is False


def test_without_blocks_a_launch_is_held_against_the_limits_alone_and_memory_is_not_touched() -> None:
    result = run(build(FOLDER / "part_kernels.cu", optimisation="O2"), _NONE)
    right, wrapped = result["launches"]
    assert (right["grid"], right["blocks_run"], right["refused"]) == ([1 << 16, 1, 1], 0, None)
    assert wrapped["grid"] == [(1 << 32) - (1 << 16), 1, 1]
    assert "is over (2147483647, 65535, 65535)" in wrapped["refused"]
    assert result["reports"] == ["launch-refused"]
    assert (result["many"]["grid"], result["many"]["refused"]) == ([1 << 27, 1, 1], None)
    assert result["resident_mib"] < 1024
