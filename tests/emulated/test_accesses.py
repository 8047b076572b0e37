"""What a GPU stops at, refuses or does not compile is not right on the emulated device either; each case has a twin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from audit.build.emulated.build import build
from audit.build.emulated.device import located
from audit.model.errors import CompileError
from tests.emulated.child import FOLDER, run

SOURCE = FOLDER / "bad_accesses.cu"
LINES = SOURCE.read_text().splitlines()
VECTORS = ("float", "float2", "float4", "int4", "double2", "longlong2", "half2", "bfloat162", "quad")

# feature: the kind that the bad one must raise, a piece of the source line that it must name, CUDA's error afterwards
PAIRS = {
    "pitch": ("misaligned-access", "four = row[0]", 716),
    **{
        f"load_{name}": ("misaligned-access", "T value = *reinterpret_cast<const T*>(in + at)", 716) for name in VECTORS
    },
    **{f"store_{name}": ("misaligned-access", "reinterpret_cast<T*>(out + at)[1] = value", 716) for name in VECTORS},
    "cached": ("misaligned-access", "__ldg(reinterpret_cast<const T*>(in + at))", 716),
    "shared": ("misaligned-access", "*reinterpret_cast<T*>(held + at)", 716),
    "bounds": ("launch-refused", "bounded_kernel<<<1, kMost + bad>>>", 1),
    "template_bounds": ("launch-refused", "template_kernel<32><<<", 1),
    "named_bounds": ("launch-refused", "named_kernel<<<1, bad ? 256", 1),
    "half_stride": ("tile-stride", "wmma::load_matrix_sync(a", 0),
    "float_stride": ("tile-stride", "wmma::store_matrix_sync(out", 0),
    "read_only_local": ("not-global-memory", "__ldg(bad ? &own", 0),
    "read_only_shared": ("not-global-memory", "__ldg(bad ? held", 0),
}
RIGHT = ("loose", "constants")

_ALL = """
for name in NAMES:
    for bad in (False, True):
        runtime.configure(allocator="poison_nan", checker=CHECKER)
        out = functions[name](torch.ones(32 * 577), bad)
        peek = functions["peek"]()
        answer[f"{name} {bad}"] = [runtime.reports(), runtime.launches(), peek, out.tolist()[:33]]
        runtime.reset()
        runtime.recover()
"""


@pytest.fixture(scope="module", params=["O2", "O0"])
def bad_accesses(request):
    return build(SOURCE, optimisation=request.param)


@pytest.fixture(scope="module", params=[True, False], ids=["checked", "unchecked"])
def outcomes(request, bad_accesses):
    names = repr([*PAIRS, *RIGHT, "copies"])
    return run(bad_accesses, _ALL.replace("NAMES", names).replace("CHECKER", repr(request.param)))


@pytest.mark.parametrize("name", PAIRS)
def test_bad_is_reported_and_its_twin_is_not(name, outcomes, bad_accesses):
    kind, text, error = PAIRS[name]
    reports, _, after, _ = outcomes[f"{name} False"]
    assert (reports, after) == ([], 0)
    reports, _, after, _ = outcomes[f"{name} True"]
    assert {each["kind"] for each in reports} == {kind}
    assert after == error
    lines = [each["line"] for each in located(reports, bad_accesses.library)]
    assert all(line and text in LINES[line - 1] for line in lines), lines


def test_right_accesses_are_not_reported(outcomes):
    for name in RIGHT:
        reports, _, after, out = outcomes[f"{name} True"]
        assert (reports, after) == ([], 0)
        assert out[0] == {"loose": 4.0, "constants": 7.0}[name]


def test_a_kernel_whose_bounds_are_exceeded_does_not_run(outcomes):
    for name, threads, most in (("bounds", 65, 64), ("template_bounds", 33, 32), ("named_bounds", 256, 128)):
        _, (launch,), _, out = outcomes[f"{name} True"]
        assert launch["refused"].endswith(f"{threads} threads; __launch_bounds__ of the kernel allows {most}")
        assert set(out) == {0.0}
        _, (launch,), _, out = outcomes[f"{name} False"]
        assert (launch["refused"], out[0], out[31]) == (None, 1.0, 1.0)


def test_copies_of_a_wrong_kind_answer_an_error(outcomes):
    reports, _, after, codes = outcomes["copies True"]
    assert (after, codes) == (1, [1] * 5 + [21] * 3 + [1] * 5)
    assert [each["kind"] for each in reports] == ["copy-refused"] * 6  # those of variables; see test_variables.py
    reports, _, after, codes = outcomes["copies False"]
    assert (reports, after, codes) == ([], 0, [0] * 13)


HEAD = "#include <torch/extension.h>\n"
BIND = 'void f(at::Tensor x) {}\nPYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }\n'


def test_constants_over_64_kib_do_not_compile(tmp_path: Path) -> None:
    """Those of the source above just fit."""
    path = tmp_path / "k.cu"
    constants = SOURCE.read_text().partition("// 65,536 bytes")[2].partition("\n}\n\n")[0]
    head = f"{HEAD}#include <cuda_runtime.h>\n#include <array>\nusing at::Tensor;\n#define ONE_MORE\n//"
    path.write_text(f"{head}{constants}\n}}\n{BIND}")
    with pytest.raises(CompileError, match="65,537 bytes of __constant__ data: a GPU has 65,536, so nvcc refuses"):
        build(path)


def test_the_size_of_a_warp_is_no_constant_expression(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(HEAD + "__global__ void k(float* x) { __shared__ float s[256 / warpSize]; s[0] = x[0]; }\n" + BIND)
    with pytest.raises(CompileError):
        build(path)


def test_there_is_no_such_function_of_that_type(tmp_path: Path) -> None:
    lines = {
        "atomicMax": "atomicMax(x, 1.0f);",
        "atomicMin": "atomicMin(x, 1.0f);",
        "__ldg": "__ldg(reinterpret_cast<float3*>(x));",
        "__stcs": "__stcs(reinterpret_cast<float3*>(x), float3());",
    }
    path = tmp_path / "k.cu"
    path.write_text(HEAD + f"__global__ void k(float* x) {{ {' '.join(lines.values())} }}\n" + BIND)
    with pytest.raises(CompileError) as caught:
        build(path)
    for name in lines:
        assert re.search(f"no matching function for call to .{name}", caught.value.log), name
