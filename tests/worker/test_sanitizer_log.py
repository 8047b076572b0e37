"""What compute-sanitizer writes, read as text; no GPU is needed."""

from pathlib import Path

import pytest

from audit.worker.sanitizer import Sanitized
from audit.worker.sanitizer_log import finished, reports_in

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
UNWRITTEN = """========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at sum(const float *, float *)+0x50
=========     by thread (0,0,0) in block (0,0,0)
=========
========= ERROR SUMMARY: 1 error
"""
RACE = """========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at void tile<float>(T1 *)+0x2a0
=========     and Read access at void tile<float>(T1 *)+0x310 [512 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
"""
WARNING = RACE.replace("Error: Race", "Warning: Race").replace("1 error, 0 warnings", "0 errors, 1 warning")


def test_accesses_out_of_bounds_are_counted_by_kernel() -> None:
    (report,) = reports_in(OUTSIDE)
    assert (report["kind"], report["count"], report["line"]) == ("out-of-bounds-write", 2, 12)
    assert report["kernel"] == "scale(float *, int)"
    assert "global write of 4 bytes" in report["message"]


def test_a_read_of_unwritten_memory_without_line_information() -> None:
    (report,) = reports_in(UNWRITTEN)
    assert (report["kind"], report["kernel"], report["line"]) == (
        "uninitialised-read",
        "sum(const float *, float *)",
        None,
    )


def test_a_race_is_reported_and_one_inside_a_warp_too() -> None:
    (report,) = reports_in(RACE)
    assert (report["kind"], report["kernel"]) == ("race-shared", "void tile<float>(T1 *)")
    assert reports_in(WARNING) == [report]


@pytest.mark.parametrize(
    ("log", "ended"), [(OUTSIDE, True), (RACE, True), ("========= COMPUTE-SANITIZER\n", False), ("", False)]
)
def test_a_tool_that_did_not_end_is_noticed(log: str, ended: bool) -> None:
    assert finished(log) is ended


def test_a_tool_without_an_answer_is_never_a_clean_one(tmp_path: Path) -> None:
    program = tmp_path / "compute-sanitizer"
    program.write_text("#!/bin/sh\nexit 7\n")
    program.chmod(0o755)
    device = Sanitized({"sanitizer": str(program), "library": "m.so", "module": "m", "binding": None})
    device.load("forward")()
    with pytest.raises(RuntimeError, match=r"gave no answer \(exit code 7\)"):
        device.trace()
