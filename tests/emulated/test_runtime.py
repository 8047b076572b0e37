"""The device itself: what memory holds, what it reports and does not report, what a fault leaves behind."""

from __future__ import annotations

import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import located
from tests.emulated.child import FOLDER, run

SOURCE = FOLDER / "bad_kernels.cu"
LINES = SOURCE.read_text().splitlines()

# feature: kinds that the bad one must raise, a piece of the source line that it must name, CUDA's error afterwards
PAIRS = {
    "uninitialised_read": ({"uninitialised-read"}, "uninitialised_kernel(const", 0),
    "uninitialised_shared": ({"uninitialised-read"}, "held[31 - threadIdx.x]", 0),
    "out_of_bounds_read": ({"out-of-bounds-read"}, "bounds_read_kernel(const", 0),
    "out_of_bounds_write": ({"out-of-bounds-write", "illegal-address"}, "bounds_write_kernel(const", 700),
    "out_of_bounds_shared": ({"out-of-bounds-write", "uninitialised-read"}, "first[threadIdx.x", 0),
    "race_shared": ({"race-shared", "race-global", "uninitialised-read"}, "held[", 0),
    "race_global": ({"race-global"}, "*out += value", 0),
    "race_by_scope": ({"race-global"}, "if (bad) atomicAdd_block", 0),
    "race_with_atomic": ({"race-shared"}, "atomicAdd(&total", 0),
    "race_past_a_flag": ({"race-global"}, "out[1] = out[0]", 0),
    "barrier_divergence": ({"barrier-divergence"}, "__syncthreads()", 0),
    "warp_mask": ({"warp-mask"}, "__shfl_down_sync(bad", 0),
    "exited_lane_read": ({"exited-lane-read"}, "__shfl_down_sync(0xffffffffu", 0),
    "launch_refused": ({"launch-refused"}, "bad ? 2048", 9),
    "too_many_threads": ({"too-many-threads"}, "bad ? 1 << 20", 0),
    "shared_over_limit": ({"needs-newer-gpu"}, "65 * 1024", 1),
    "static_shared_too_large": ({"static-shared-too-large"}, "large_static_kernel<<<", 1),
    "time_limit": ({"time-limit"}, "while (bad && *watched", 702),
    "illegal_address": ({"illegal-address"}, "wild_kernel(float*", 700),
    "stack_overflow": ({"illegal-address"}, "held[i] = out", 700),
    "device_assert": ({"trap"}, "assert(!bad", 710),
    "trap": ({"trap"}, "__trap()", 719),
    "deadlock": ({"deadlock"}, "lock_kernel<<<", 702),
    "same_value": (set(), "", 0),
}

_ALL = """
for name in NAMES:
    for bad in (False, True):
        runtime.configure(allocator="poison_nan", checker=True, kernel_seconds=0.3)
        functions[name](torch.randn(32), bad)
        peek = functions["peek"]()
        answer[f"{name} {bad}"] = [runtime.reports(), peek]
        runtime.reset()
        runtime.recover()
"""


@pytest.fixture(scope="module", params=["O2", "O0"])
def bad_kernels(request):
    return build(SOURCE, optimisation=request.param)


@pytest.fixture(scope="module")
def outcomes(bad_kernels):
    return run(bad_kernels, _ALL.replace("NAMES", repr(list(PAIRS))))


@pytest.mark.parametrize("name", PAIRS)
def test_bad_is_reported_and_its_twin_is_not(name, outcomes, bad_kernels):
    kinds, text, error = PAIRS[name]
    assert outcomes[f"{name} False"] == [[], 0]
    reports, after = outcomes[f"{name} True"]
    assert {each["kind"] for each in reports} == kinds
    assert after == error
    lines = [each["line"] for each in located(reports, bad_kernels.library)]
    assert not kinds or any(line and text in LINES[line - 1] for line in lines), lines


def test_every_report_kind_has_a_pair():
    known = {
        "uninitialised-read", "out-of-bounds-read", "out-of-bounds-write", "race-shared", "race-global",
        "barrier-divergence", "warp-mask", "exited-lane-read", "launch-refused", "needs-newer-gpu", "time-limit",
        "illegal-address",
        "trap", "deadlock", "too-many-threads", "static-shared-too-large",
    }  # fmt: skip
    assert set().union(*(kinds for kinds, _, _ in PAIRS.values())) == known


def test_an_error_sticks_until_the_process_ends(bad_kernels):
    code = """
runtime.configure()
functions["illegal_address"](torch.ones(32), True)
runtime.reset()
out = functions["launch_refused"](torch.ones(32), False)
answer = [functions["last_error"](), functions["peek"](), functions["peek"](), out.sum().item(), runtime.launches()]
"""
    error, peeked, again, total, launches = run(bad_kernels, code)
    assert [error, peeked, again, total] == [700, 700, 700, 0.0]
    assert launches[0]["refused"] == "an earlier kernel left the device in an error state"


def test_orders_of_blocks_and_threads(bad_kernels):
    code = """
def taken(order, seed=1):
    runtime.configure(thread_order=order, block_order=order, seed=seed)
    return functions["tickets"](4, 64).tolist()
for order in ("forward", "reverse"): answer[order] = taken(order)
answer["seeds"] = [taken("random"), taken("random"), taken("random", 2)]
"""
    answer = run(bad_kernels, code)
    forward = [[64 * block + thread for thread in range(64)] for block in range(4)]
    assert answer["forward"] == forward
    assert answer["reverse"] == [row[::-1] for row in forward[::-1]]
    first, again, other = answer["seeds"]
    assert first == again
    assert first != other
    assert sorted(ticket for row in first for ticket in row) == [*range(256)]
    places = [[sorted(row).index(ticket) for ticket in row] for row in first]
    assert len({tuple(row) for row in places}) == 4, "every block has an order of its own"


def test_lanes_keep_step_where_that_is_asked(bad_kernels):
    code = """
for order in ("forward", "reverse", "lockstep"):
    runtime.configure(thread_order=order)
    answer[order] = functions["in_step"](torch.zeros(32)).nan_to_num(-1).tolist()
"""
    answer = run(bad_kernels, code)
    right = [2.0 * ((lane + 1) % 32) for lane in range(32)]
    assert answer["lockstep"] == right
    assert answer["forward"] != right
    assert answer["reverse"] != right


def test_what_nobody_has_written(bad_kernels):
    code = """
import struct
for word in (0, 0x7A7A7A7A):
    runtime.configure(shared_word=word, lane_word=word)
    answer[word] = [functions["uninitialised_shared"](torch.ones(32), True)[0].item()]
    answer[word] += [functions["exited_lane_read"](torch.ones(32), True)[0].item()]
    answer[word] += struct.unpack("f", struct.pack("I", word))
"""
    answer = run(bad_kernels, code)
    assert answer["0"] == [0.0, 190.0, 0.0]
    shared, lanes, word = answer[str(0x7A7A7A7A)]
    assert shared == word
    assert lanes > word


def test_launches_are_recorded(bad_kernels):
    code = """
functions["shared_over_limit"](torch.ones(32), False)
functions["uninitialised_shared"](torch.ones(32), True)
answer = runtime.launches()
"""
    first, second = run(bad_kernels, code)
    assert (first["kernel"], first["grid"], first["block"]) == ("nothing_kernel", [1, 1, 1], [32, 1, 1])
    assert (first["dynamic_shared_bytes"], first["threads"], first["refused"]) == (65536, 32, None)
    assert "nothing_kernel<<<" in LINES[first["line"] - 1]
    assert second["static_shared_bytes"] == 128
    assert (first["arguments"], second["arguments"]) == ([None], [None, None, 1])


def test_writes_per_element(bad_kernels):
    code = """
runtime.configure(checker=True)
for times in (1, 3, 300):
    out = functions["written"](torch.ones(32), times)
    answer[times] = list(runtime.write_counts(out))
runtime.reset()
answer["reset"] = list(runtime.write_counts(out))
"""
    answer = run(bad_kernels, code)
    for times, count in (("1", 1), ("3", 3), ("300", 255)):
        assert answer[times] == [0 if i == 5 else count for i in range(32)]
    assert answer["reset"] == [0] * 32


def test_allocator_modes(bad_kernels):
    code = """
def words(mode):
    runtime.configure(allocator=mode)
    gone = torch.full((1000,), 7, dtype=torch.int32)
    address = gone.data_ptr()
    del gone
    block = torch.empty(1000, dtype=torch.int32)
    return address == block.data_ptr(), sorted({v & 0xFFFFFFFF for v in block.tolist()})
for mode in ("poison_nan", "poison_number", "zero", "reuse"): answer[mode] = words(mode)
runtime.configure(allocator="reuse")
answer["fresh"] = torch.empty(77777, dtype=torch.int32).unique().tolist()
answer["patterns"] = [POISON_NAN, POISON_NUMBER]
"""
    answer = run(bad_kernels, code)
    nan, number = answer["patterns"]
    assert answer["poison_nan"] == [True, [nan]]
    assert answer["poison_number"] == [True, [number]]
    assert answer["zero"] == [True, [0]]
    assert answer["reuse"] == [True, [7]]
    assert answer["fresh"] == [0]


def test_bad_settings_and_foreign_tensors(bad_kernels):
    code = """
def message(call):
    try: call()
    except ValueError as error: return str(error)
answer = [message(lambda: runtime.configure(allocator="magic")), message(lambda: runtime.write_counts(early)),
          message(lambda: runtime.write_counts(torch.ones(4, 4).T)), list(runtime.write_counts(torch.ones(0)))]
"""
    unknown, foreign, strided, empty = run(bad_kernels, code)
    assert "unknown setting magic; known: plain" in unknown
    assert "made before the runtime was loaded" in foreign
    assert "contiguous" in strided
    assert empty == []
