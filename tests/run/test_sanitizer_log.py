"""What compute-sanitizer writes, read as text; no GPU is needed."""

from __future__ import annotations

import pytest

from audit.run.devices.sanitizer_log import finished, reports_in

OUTSIDE = """========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, int)+0x90 in k.cu:12
=========     by thread (31,0,0) in block (3,0,0)
=========     Access at 0x7f2c5fa00200 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7f2c5fa00000 of size 512 bytes
=========     Saved host backtrace up to driver entry point at kernel launch time
=========         Host Frame: forward(at::Tensor) [0x1234] in k.so
=========
========= Invalid __global__ write of size 4 bytes
=========     at scale(float *, int)+0x90 in k.cu:12
=========     by thread (30,0,0) in block (3,0,0)
=========
========= ERROR SUMMARY: 2 errors
"""
MISALIGNED = """========= Invalid __global__ read of size 16 bytes
=========     at rows(const float4 *)+0x50 in k.cu:9
=========     by thread (1,0,0) in block (0,0,0)
=========     Access at 0x7f2c5fa00204 is misaligned
========= ERROR SUMMARY: 1 error
"""
UNWRITTEN = """========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at sum(const float *, float *)+0x50
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7f3c7ec000fc
=========
========= Uninitialized __shared__ memory read of size 4 bytes
=========     at sum(const float *, float *)+0x1a0 in k.cu:7
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x0
========= ERROR SUMMARY: 2 errors
"""
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at void tile<float>(T1 *)+0x2a0 in k.cu:27
=========     and Read access at void tile<float>(T1 *)+0x310 in k.cu:30 [512 hazards]
=========     and Write access at void tile<float>(T1 *)+0x310 in k.cu:30 [4 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
WARNING = RACE.replace("Error: Race", "Warning: Race").replace("1 error, 0 warnings", "0 errors, 1 warning")
OLDER_RACE = """========= Error: Race reported between Write access at 0x00000148 in ./race.cu:3:test(int*, int*)
=========     and Read access at 0x00000170 in ./race.cu:4:test(int*, int*) [124 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
NAMELESS_RACE = """========= Error: Race reported between Write access at 0x68 in sgemm_nt
=========     and Read access at 0x78 in sgemm_nt [20 hazards]
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
DIVERGENT = """========= Barrier error detected. Divergent thread(s) in block
=========     at scan(float *)+0xb0 in k.cu:20
=========     by thread (0,0,0) in block (0,0,0)
=========
========= Barrier error detected. Divergent thread(s) in block
=========     at scan(float *)+0xb0 in k.cu:20
=========     by thread (1,0,0) in block (0,0,0)
========= ERROR SUMMARY: 2 errors
"""
ARGUMENTS = """========= Barrier error detected. Invalid arguments.
=========     at __syncwarp(unsigned int)+0xe0 in sm_30_intrinsics.hpp:110
=========     by thread (16,0,0) in block (0,0,0)
=========         Device Frame: rows(float *, unsigned long)+0xb0 in k.cu:12
========= ERROR SUMMARY: 1 error
"""


def test_accesses_out_of_bounds_are_counted_by_kernel_and_line() -> None:
    (report,) = reports_in(OUTSIDE, tool="memcheck")
    assert (report["kind"], report["count"], report["line"]) == ("out-of-bounds-write", 2, 12)
    assert (report["kernel"], report["tool"]) == ("scale(float *, int)", "memcheck")
    assert "global write of 4 bytes" in report["message"]


def test_a_misaligned_access_is_not_said_to_be_out_of_bounds() -> None:
    (report,) = reports_in(MISALIGNED, tool="memcheck")
    assert (report["kind"], report["line"]) == ("misaligned-access", 9)


def test_a_read_of_unwritten_memory_has_its_address_and_space() -> None:
    outside, shared = reports_in(UNWRITTEN, tool="initcheck")
    assert (outside["kind"], outside["kernel"], outside["line"], outside["address"]) == (
        "uninitialised-read",
        "sum(const float *, float *)",
        None,
        0x7F3C7EC000FC,
    )
    assert (shared["kind"], shared["line"], "shared" in shared["message"]) == ("uninitialised-read", 7, True)


def test_a_race_has_both_lines_and_the_count_of_hazards() -> None:
    (report,) = reports_in(RACE, tool="racecheck")
    assert (report["kind"], report["kernel"]) == ("race-shared", "void tile<float>(T1 *)")
    assert (report["line"], report["count"]) == (27, 516)
    assert "line 27 and line 30" in report["message"]


def test_a_race_inside_a_warp_is_one_too() -> None:
    (report,) = reports_in(WARNING, tool="racecheck")
    assert (report["kind"], "__syncwarp()" in report["message"]) == ("race-shared", True)


@pytest.mark.parametrize(
    ("log", "kernel", "line"), [(OLDER_RACE, "test(int*, int*)", 3), (NAMELESS_RACE, "sgemm_nt", None)]
)
def test_older_forms_of_a_place(log: str, kernel: str, line: int | None) -> None:
    (report,) = reports_in(log, tool="racecheck")
    assert (report["kernel"], report["line"]) == (kernel, line)


def test_barriers_that_not_all_reach() -> None:
    (report,) = reports_in(DIVERGENT, tool="synccheck")
    assert (report["kind"], report["line"], report["count"]) == ("barrier-divergence", 20, 2)


def test_a_barrier_of_a_header_counts_for_the_line_that_called_it() -> None:
    (report,) = reports_in(ARGUMENTS, tool="synccheck")
    assert (report["kind"], report["kernel"], report["line"]) == ("warp-mask", "rows(float *, unsigned long)", 12)


def test_a_summary_alone_reports_nothing() -> None:
    assert reports_in("========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", tool="memcheck") == []


@pytest.mark.parametrize(
    ("log", "ended"), [(OUTSIDE, True), (RACE, True), ("========= COMPUTE-SANITIZER\n", False), ("", False)]
)
def test_a_tool_that_did_not_end_is_noticed(log: str, ended: bool) -> None:
    assert finished(log) is ended
