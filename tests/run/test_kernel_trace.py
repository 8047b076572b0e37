"""What a profiler's trace says of the kernels of one call."""

from typing import Any

import pytest

from audit.build.cuda.fast_symbols import plain_name
from audit.probes.concluding.own_kernels import is_one_of
from audit.run.devices.cuda import MOST_LAUNCHES, launches_in


def event(name: str, start: float, **more: Any) -> dict[str, Any]:
    values = {"grid": [128, 128, 1], "block": [32, 32, 1], "registers per thread": 32, "stream": 7, "shared memory": 0}
    return {"cat": "kernel", "name": name, "ts": start, "dur": 3.456, "args": values} | more


def test_kernels_are_listed_in_the_order_they_started() -> None:
    trace = {
        "traceEvents": [event("second", 9.5), {"cat": "cuda_runtime", "name": "cudaLaunchKernel"}, event("first", 2)]
    }
    launches = launches_in(trace)
    assert [launch["kernel"] for launch in launches] == ["first", "second"]
    assert launches[0] | {"microseconds": 0} == {
        "kernel": "first",
        "line": None,
        "grid": [128, 128, 1],
        "block": [32, 32, 1],
        "shared_bytes": 0,
        "registers": 32,
        "stream": 7,
        "microseconds": 0,
        "refused": None,
    }
    assert launches[0]["microseconds"] == 3.456


def test_a_call_with_very_many_kernels_is_cut() -> None:
    assert len(launches_in({"traceEvents": [event("k", index) for index in range(500)]})) == MOST_LAUNCHES


def test_a_call_without_kernels_has_none() -> None:
    assert launches_in({"traceEvents": [{"ph": "M", "name": "process_name"}]}) == []


def test_of_many_launches_the_first_of_each_kernel_is_kept() -> None:
    names = ["torch's"] * (2 * MOST_LAUNCHES) + ["own", "torch's"]
    launches = launches_in({"traceEvents": [event(name, place) for place, name in enumerate(names)]})
    assert [one["kernel"] for one in launches] == ["torch's"] * (MOST_LAUNCHES - 1) + ["own"]


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("_ZN7cutlass6KernelINS_4gemm6kernel4GemmIfEEEEvNT_6ParamsE", "cutlass::Kernel<...>"),
        ("_Z11gemm_deviceIfN4cute5tupleIfEEEvPT_", "gemm_device<...>"),
        ("_ZN12_GLOBAL__N_15scaleEPfi", "(anonymous namespace)::scale(...)"),
        ("void ns::scale<float, 256>(float*, int)", "void ns::scale<float, 256>(float*, int)"),
        ("_ZL5scalePfi", "scale(...)"),
        ("_ZL", "_ZL"),
    ],
)
def test_a_name_too_long_for_the_profiler_is_demangled(name: str, kernel: str) -> None:
    (launch,) = launches_in({"traceEvents": [event(name, 1.0)]})
    assert launch["kernel"] == kernel


def test_a_demangled_name_is_found_among_the_functions_of_a_source() -> None:
    (launch,) = launches_in({"traceEvents": [event("_Z11gemm_deviceIfN4cute5tupleIfEEEvPT_", 1.0)]})
    assert is_one_of(launch["kernel"], ["gemm_device"])
    assert plain_name(launch["kernel"]) == "gemm_device"
