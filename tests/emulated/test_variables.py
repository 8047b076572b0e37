"""Variables at file scope: device code that leaves one or writes a constant is told of, and so are refused copies."""

from __future__ import annotations

import json

import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import located
from tests.emulated.child import FOLDER, run

SOURCE = FOLDER / "variables.cu"
LINES = SOURCE.read_text().splitlines()
GPU = json.loads((FOLDER / "conformance" / "answers" / "faults.json").read_text())

NAMES = ("weights", "scales", "table", "hidden", "given", "numbers", "sizes", "two")
BYTES = (4096, 4096, 400, 36, 12, 360, 12, 28)
CONSTANTS = ("weights", "scales", "numbers", "sizes", "two")
COPIES = {
    "whole": "",
    "past_end": "4097 bytes at offset 0 of a variable of 4096 bytes",
    "past_end_by_offset": "4096 bytes at offset 4 of a variable of 4096 bytes",
    "nothing_past_end": "",
    "to_host": "its kind does not fit its pointers",
    "host_to_host": "its kind does not fit its pointers",
    "nothing_to_host": "",
    "pageable_as_device": "its kind does not fit its pointers",
    "from_past_end": "4097 bytes at offset 0 of a variable of 4096 bytes",
    "from_as_to_device": "its kind does not fit its pointers",
    "from_huge_offset": "16 bytes at offset 18446744073709551612 of a variable of 4096 bytes",
    "from_to_pageable_as_device": "its kind does not fit its pointers",
    "device_past_end": "404 bytes at offset 0 of a variable of 400 bytes",
    "default_kind": "",
}
_ALL = """
def ask(name, function, *given):
    runtime.configure(allocator="poison_nan", checker=True)
    out = functions[function](torch.ones(32), *given)
    answer[name] = [out.tolist(), runtime.reports()]
    runtime.reset()

for which in range(8):
    for shift in (0, 1, 500, 16000 if which < 6 and which != 4 else 900):
        ask(f"reads {which} {shift}", "reads", which, shift)
        ask(f"writes {which} {shift}", "writes", which, shift)
ask("wide", "reads_wide", False)
ask("wide past", "reads_wide", True)
ask("by address", "write_by_address")
for which in range(COPIES):
    ask(f"copy {which}", "copied", which)
"""


@pytest.fixture(scope="module", params=["O2", "O0"])
def built(request):
    return build(SOURCE, optimisation=request.param)


@pytest.fixture(scope="module")
def outcomes(built):
    found = run(built, _ALL.replace("COPIES", str(len(COPIES))))
    return {name: (out, located(reports, built.library)) for name, (out, reports) in found.items()}


def _variable(which: int) -> str:
    kind = "__constant__" if NAMES[which] in CONSTANTS else "__device__"
    return f"{NAMES[which]}, a {kind} variable of {BYTES[which]} bytes"


@pytest.mark.parametrize("which", range(len(NAMES)), ids=NAMES)
def test_a_read_past_a_variable_is_out_of_bounds_and_one_inside_is_not(which, outcomes):
    assert outcomes[f"reads {which} 0"][1] == []
    for shift in (1, 500, 16000 if which < 6 and which != 4 else 900):
        (one,) = outcomes[f"reads {which} {shift}"][1]
        assert (one["kind"], one["kernel"]) == ("out-of-bounds-read", "read_kernel")
        assert one["message"] == f"reads 4 bytes past the end of {_variable(which)}"
        assert "place(which)[length(which)" in LINES[one["line"] - 1]


@pytest.mark.parametrize("which", range(len(NAMES)), ids=NAMES)
def test_a_write_past_a_variable_is_out_of_bounds(which, outcomes):
    (one,) = outcomes[f"writes {which} 1"][1]
    assert one["kind"] == "out-of-bounds-write"
    assert one["message"] == f"writes 4 bytes past the end of {_variable(which)}"


def test_a_vector_that_ends_outside_is_told(outcomes):
    assert outcomes["wide"][1] == []
    (one,) = outcomes["wide past"][1]
    assert one["message"] == f"reads 8 bytes past the end of {_variable(5)}"


@pytest.mark.parametrize("which", range(len(NAMES)), ids=NAMES)
def test_a_constant_is_not_to_be_written(which, outcomes):
    kinds = [(one["kind"], one["message"]) for one in outcomes[f"writes {which} 0"][1]]
    text = f"writes {NAMES[which]}, a __constant__ variable: undefined behaviour"
    assert kinds == ([("constant-write", text)] if NAMES[which] in CONSTANTS else [])


def test_a_constant_may_be_written_by_the_address_that_the_host_asked_for(outcomes):
    """As an H100 does (`constant write by address` of faults.json); by its name it stops the kernel there."""
    assert outcomes["by address"][1] == []
    assert GPU["constant write by address"].startswith("0 0 0")
    assert GPU["constant write"].startswith("-1 0 719")


@pytest.mark.parametrize("name", COPIES)
def test_a_refused_copy_is_reported_and_copies_nothing_as_on_a_gpu(name, outcomes):
    which = list(COPIES).index(name)
    (code, held), reports = outcomes[f"copy {which}"]
    on_gpu = GPU["symbol " + name.replace("_", " ")].split()
    assert int(code) == int(on_gpu[0])
    assert held == (3.0 if on_gpu[3] == "40400000" else 0.0)
    if not COPIES[name]:
        assert (code, reports) == (0, [])
        return
    (one,) = reports
    function = "cudaMemcpyFromSymbol" if name.startswith("from") else "cudaMemcpyToSymbol"
    assert (one["kind"], one["kernel"]) == ("copy-refused", function)
    assert one["message"] == f"a GPU refuses this copy: {COPIES[name]}"
    assert f"case {which}:" in LINES[one["line"] - 1]
