"""Sources in, libraries out: the ladder, the cache, and every way a source can be bad."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from audit.build.emulated import compiler_log, preprocess, toolchain
from audit.build.emulated.build import build
from audit.build.emulated.compiler_log import next_header_set
from audit.build.second_compiler import HOST_WARP_SIZE, UNCLOSED
from audit.model.errors import BadInput, CompileError, Unsupported
from tests.conftest import part
from tests.emulated.child import run

GOOD = """#include <torch/extension.h>
#include "factor.h"
__global__ void scale(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = FACTOR * in[i];
}
at::Tensor forward(at::Tensor in) {
  auto out = torch::empty_like(in);
  scale<<<1, 64>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());
  return torch::clamp_min(torch::matmul(out, out), 0);
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""
SMALL = GOOD.replace("torch::clamp_min(torch::matmul(out, out), 0)", "out")
"""With no operator, whose code takes long to compile."""
BESIDE = """#pragma once
#include "sizes.h"
template <class T>
__global__ void doubled(const T* in, T* out, int n) {
  __shared__ T held[THREADS];
  unsigned rank;
  asm("mov.u32 %0, %%tid.x;" : "=r"(rank));
  held[rank] = in[min(rank, n - 1u)];
  __syncthreads();
  if (rank < n) out[rank] = 2 * held[rank];
}
template <class T>
void launch(const T* in, T* out, int n) { doubled<<<1, THREADS>>>(in, out, n); }
"""
UNASKED = "CHECK(std::set<int>{1}.count(1) && std::unordered_set<int>{1}.count(1)) << std::thread().joinable();"
"""What is there though a source includes nothing but torch's extension.h."""


def source(folder: Path, text: str = GOOD, name: str = "k.cu") -> Path:
    (folder / "factor.h").write_text("#define FACTOR 2\n")
    (folder / name).write_text(text)
    return folder / name


def test_micro_header_set_reaches_any_operator_and_is_cached(tmp_path):
    lines = "  at::OptionalDeviceGuard guard(at::device_of(in));\n  out = at::cat({out, in});\n"
    lines += f"  {UNASKED}\n  return"
    path = source(tmp_path, GOOD.replace("  return", lines) + f"// {tmp_path}\n")
    first, second = build(path), build(path)
    assert first.header_set == "micro"
    assert not first.from_cache
    assert second.from_cache
    assert (second.library, second.sha256) == (first.library, first.sha256)


@pytest.mark.parametrize(
    ("message", "higher"),
    [
        ("error: ‘matmul’ was not declared in this scope", "slim"),  # an operator by its bare name
        ("error: ‘sum’ is not a member of ‘at’", "slim"),
        ("error: ‘riemann_zeta’ is not a member of ‘std’", "slim"),  # `micro` leaves out the special functions
        ("error: ‘undefined_name’ was not declared in this scope", None),
    ],
)
def test_a_name_of_torch_sends_the_source_to_the_next_header_set(message, higher):
    assert next_header_set("micro", message) == higher


def test_assertions_of_torchs_own_headers_find_their_text_in_the_runtime(tmp_path):
    checks = "".join(f'  TORCH_CHECK(in.size({i}) == in.size({i + 1}), "axis {i}");\n' for i in range(3))
    built = build(source(tmp_path, SMALL.replace("  auto out", f"{checks}  auto out")))
    assert built.header_set == "micro"
    assert run(built, "answer = functions['forward'](torch.ones(2, 2, 2, 2)).sum().item()") == 32.0
    name = "_ZN3c106detail12_str_wrapperIJPKcRKiEE4callB5cxx11ERKS3_S5_"
    assert run(built, f"import ctypes; answer = hasattr(ctypes.CDLL(None), '{name}')")


def test_optimisation_and_a_header_beside_the_source_count_and_unknown_ones_are_refused(tmp_path):
    path = source(tmp_path, SMALL)
    first = build(path, optimisation="O0")
    assert build(path, optimisation="O2").sha256 != first.sha256
    (tmp_path / "factor.h").write_text("#define FACTOR 3\n")
    assert build(path, optimisation="O0").library != first.library
    with pytest.raises(ValueError, match="known: O2, O0"):
        build(path, optimisation="O7")


def test_headers_beside_the_source_hold_kernels_launches_and_inline_ptx(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts/kernel.cuh").write_text(BESIDE)
    (tmp_path / "parts/sizes.h").write_text("constexpr int THREADS = 64;\n")
    called = "  launch(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());\n  return"
    text = SMALL.replace('#include "factor.h"', '#include "factor.h"\n#include "parts/kernel.cuh"')
    path = source(tmp_path, text.replace("  return", called))
    built = build(path)
    assert [one.file for one in built.reads] == ["k.cu", "factor.h", "parts/kernel.cuh", "parts/sizes.h"]
    answers = run(built, "answer = [functions['forward'](torch.ones(9)).tolist(), runtime.launches()]")
    assert answers[0] == [2.0] * 9
    assert [each["kernel"] for each in answers[1]] == ["scale", "doubled"]
    (tmp_path / "parts/sizes.h").write_text("constexpr int THREADS = 64;\ninline int f() { return cublasLtInit(); }\n")
    with pytest.raises(Unsupported, match="cuBLAS"):
        build(path)


def test_a_header_beside_the_source_asks_for_a_gpu_before_and_behind_headers_of_torch(tmp_path):
    (tmp_path / "check.cuh").write_text(
        "#pragma once\n#include <torch/extension.h>\n"
        "inline void check(const torch::Tensor& x) { TORCH_CHECK(x.is_cuda() && x.device().type() == torch::kCUDA); }\n"
    )
    text = SMALL.replace('#include "factor.h"', '#include "factor.h"\n#include "check.cuh"\n#include <ATen/ATen.h>')
    built = build(source(tmp_path, text.replace("  return", "  check(in);\n  TORCH_CHECK(in.is_cuda());\n  return")))
    assert run(built, "answer = functions['forward'](torch.ones(9)).tolist()") == [2.0] * 9


def test_macros_and_include_folders_of_the_claim_count_and_are_part_of_the_key(tmp_path):
    for folder, factor in (("include", "2.0f"), ("other", "3.0f")):
        (tmp_path / folder / "lib").mkdir(parents=True)
        (tmp_path / folder / "lib/kernel.cuh").write_text(BESIDE.replace("2 *", f"{factor} *"))
        (tmp_path / folder / "lib/sizes.h").write_text("#ifndef THREADS\n#define THREADS 8\n#endif\n")
    called = "  doubled<<<1, THREADS>>>(in.data_ptr<float>(), out.data_ptr<float>(), in.numel());\n  return"
    text = SMALL.replace('#include "factor.h"', "#include <lib/kernel.cuh>\n#define FACTOR 1").replace(
        "  return", called
    )
    path = source(tmp_path, text)
    plain, other, wide = (
        build(path, flags=flags) for flags in (("-Iinclude",), ("-Iother", "-Iinclude"), ("-Iother", "-DTHREADS=64"))
    )
    assert [one.file for one in plain.reads] == ["k.cu", "include/lib/kernel.cuh", "include/lib/sizes.h"]
    assert len({plain.library, other.library, wide.library}) == 3
    found = [
        run(each, "answer = [functions['forward'](torch.ones(40)).tolist(), runtime.launches()]")
        for each in (plain, other, wide)
    ]
    assert [sum(answer[0]) for answer in found] == [48.0, 56.0, 120.0]
    assert [answer[1][-1]["block"] for answer in found] == [[8, 1, 1], [8, 1, 1], [64, 1, 1]]
    with pytest.raises(CompileError, match=r"lib/kernel\.cuh: No such file"):
        build(path)


def test_syntax_error_stays_on_the_first_header_set_and_names_the_line(tmp_path):
    with pytest.raises(CompileError) as caught:
        build(source(tmp_path, SMALL.replace("int i =", "int i i =")))
    assert caught.value.header_set == "micro"
    assert "k.cu:4" in caught.value.log


OF_OWN_TYPE = """#include <torch/extension.h>
template <int N> __global__ void k(float* x) {
  __shared__ struct Pair { float even[2 * N], odd[N]; } held[2], last;
  last.odd[threadIdx.x] = held[1].even[threadIdx.x + N] = x[threadIdx.x];
  __syncthreads();
  x[threadIdx.x] = held[1].even[2 * N - 1 - threadIdx.x] + last.odd[N - 1 - threadIdx.x];
}
void f(at::Tensor x) { k<32><<<1, 32>>>(x.data_ptr<float>()); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }
"""
"""nvcc 13.0 takes it."""


@pytest.mark.parametrize(("change", "kinds"), [("", set()), ("2 * N - 1 -", {"out-of-bounds-read"})])
def test_shared_memory_of_a_type_defined_in_its_declaration(tmp_path, change, kinds):
    built = build(source(tmp_path, OF_OWN_TYPE.replace(change, "8 * N -") if change else OF_OWN_TYPE))
    asked = "x = torch.arange(32.0); runtime.configure(checker=True); functions['f'](x)\n"
    got, reports = run(built, asked + "answer = [x.tolist(), runtime.reports()]")
    assert {each["kind"] for each in reports} == kinds
    assert kinds or got == [62.0 - 2 * each for each in range(32)]


DYNAMIC = """#include <torch/extension.h>
OPEN
template <typename T> __global__ void k(T* x) { extern __shared__ T s[]; s[threadIdx.x] = x[threadIdx.x]; }
CLOSE
__global__ void other(float* x) { extern __shared__ DECLARED; x[0] = 1.0f; }
void f(at::Tensor x) {
  k<float><<<1, 32, 256>>>(x.data_ptr<float>());
  if (TWO) k<TYPE><<<1, 32, 256>>>(x.data_ptr<TYPE>());
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }
"""


def dynamic(declared: str = "float s[]", kind: str = "float", opened: str = "", closed: str = "") -> str:
    """A source with `extern` arrays; nvcc 13.0 was asked which of them it refuses."""
    words = {"DECLARED": declared, "TYPE": kind, "TWO": "x.numel()", "OPEN": opened, "CLOSE": closed}
    text = DYNAMIC
    for word, by in words.items():
        text = text.replace(word, by)
    return text


OF_TWO_TYPES = {
    "instances": (dynamic(kind="double"), "float [] and double []"),
    "kernels": (dynamic("double s[]"), "double [] and float []"),
    "volatile": (dynamic("volatile float s[]"), "volatile float [] and float []"),
    "rows": (dynamic("float s[][4]"), "float [][4] and float []"),
    "namespace": (dynamic("float s[]", "double", "namespace n {", "} using n::k;"), "float [] and double []"),
    "unnamed namespace": (dynamic("float s[]", "double", "namespace {", "}"), "float [] and double []"),
}


@pytest.mark.parametrize("name", part(OF_TWO_TYPES))
def test_an_extern_array_of_two_types_does_not_compile_as_nvcc_says(tmp_path, name):
    text, types = OF_TWO_TYPES[name]
    with pytest.raises(CompileError) as caught:
        build(source(tmp_path, text))
    said = f"k.cu:3: error: extern __shared__ s is declared with two types, {types}, in one namespace"
    assert caught.value.log.splitlines()[0] == f"{said}, so nvcc refuses this source"


def test_extern_arrays_that_nvcc_takes_compile(tmp_path):
    """One type, one aligned, another name, a name of the runtime, another namespace: each in a namespace of its own."""
    texts = [
        dynamic(),
        dynamic("__align__(16) float s[]"),
        dynamic("double other_name[]"),
        dynamic("double shared[]"),
        dynamic("double s[]", opened="namespace n {", closed="} using n::k;"),
    ]
    bodies = [text.partition("\n")[2].partition("PYBIND11")[0] for text in texts]
    head, tail = texts[0].partition("\n")[0], "PYBIND11" + texts[0].partition("PYBIND11")[2]
    apart = "".join(f"namespace of_{number} {{\n{body}}}\n" for number, body in enumerate(bodies))
    assert build(source(tmp_path, f"{head}\n{bodies[0]}{apart}{tail}")).header_set == "micro"


def test_bad_sources(tmp_path):
    with pytest.raises(BadInput, match="cannot be read"):
        build(tmp_path / "none.cu")
    (tmp_path / "latin.cu").write_bytes(b"// caf\xe9\n")
    with pytest.raises(BadInput, match="not UTF-8 at byte 6"):
        build(tmp_path / "latin.cu")


@pytest.mark.parametrize("name", part(["__fmaxf", "__log1pf", "__fabs"]))
def test_a_name_that_the_c_library_keeps_to_itself_does_not_compile(name, tmp_path):
    """g++ finds its declaration in the C library's headers; nvcc 13.0: `identifier "__fmaxf" is undefined in device
    code`."""
    called = f"{name}(in[i], 0.0f)" if "max" in name else f"{name}(in[i])"
    path = source(tmp_path, SMALL.replace("FACTOR * in[i]", called))
    with pytest.raises(CompileError) as caught:
        build(path)
    assert caught.value.log == f"error: line 5: {name} is no function of device code, so nvcc refuses this source"


@pytest.mark.parametrize("header", ["", "#include <ATen/cuda/CUDAContext.h>\n", "#include <c10/cuda/CUDAStream.h>\n"])
def test_the_names_of_torch_for_cuda_need_one_of_their_headers(header, tmp_path, monkeypatch):
    """nvcc 13.0 with the headers of torch: `namespace "at::cuda" has no member "getCurrentCUDAStream"`."""
    path = source(tmp_path, header + SMALL.replace("<<<1, 64>>>", "<<<1, 64, 0, at::cuda::getCurrentCUDAStream()>>>"))
    if header:
        assert build(path).header_set == "micro"
    else:
        monkeypatch.setattr(compiler_log, "next_header_set", lambda *_: None)  # torch's own take minutes to prepare
        with pytest.raises(CompileError, match=r"getCurrentCUDAStream.* is not a member of .*at::cuda"):
            build(path)


@pytest.mark.parametrize(
    ("old", "new", "log"),
    [
        ("<<<1, 64>>>", "<<<1, 2 * warpSize>>>", HOST_WARP_SIZE),
        ("  int i = ", "#define TIMES 4\n#pragma unroll TIMES\n  for (int j = 0; j < n; ++j) {}\n  int i = ",
         "error: line 5: #pragma unroll TIMES: nvcc expands no macro there, so it refuses this"),
        ("  int i = ", "  auto later = [n] __global__ (float* x) { *x = n; };\n  int i = ",
         "error: line 4: a __global__ lambda: nvcc refuses its launch"),
        ("  int i = ", '  asm volatile("membar.gl\n;");\n  int i = ', UNCLOSED.format(line=4, quote='"')),
    ],
)  # fmt: skip
def test_words_that_nvcc_alone_refuses_do_not_compile(old, new, log, tmp_path):
    with pytest.raises(CompileError) as caught:
        build(source(tmp_path, SMALL.replace(old, new)))
    assert caught.value.log == log


def test_words_that_nvcc_takes_too_compile(tmp_path):
    in_kernel = "  int lane = threadIdx.x % warpSize;\n  constexpr int TIMES = 4;\n#pragma unroll TIMES\n"
    in_kernel += "  for (int j = 0; j < n; ++j) {}\n  int i = lane - lane + "
    text = "#include <ATen/cuda/CUDAContext.h>\n" + SMALL.replace("  int i = ", in_kernel)
    text = text.replace("<<<1, 64>>>", "<<<1, 2 * at::cuda::getCurrentDeviceProperties()->warpSize>>>")
    made = build(source(tmp_path, text.replace("  return", "  const int warpSize = 32;\n  return")))
    assert (made.header_set, made.library.is_file()) == ("micro", True)


def test_a_size_of_dynamic_shared_memory_is_a_constant_expression(tmp_path):
    """nvcc 13.0: `expression must have a constant value`."""
    kernel = "  extern __shared__ float held[64];\n  held[threadIdx.x] = 1;\n  int i = "
    build(source(tmp_path, SMALL.replace("  int i = ", kernel)))
    with pytest.raises(CompileError):
        build(source(tmp_path, SMALL.replace("  int i = ", kernel.replace("64", "blockDim.x"))))


def test_what_is_not_modelled_is_refused_by_name(tmp_path):
    text = GOOD.replace("if (i < n)", 'asm volatile("wgmma.wait_group.sync.aligned 0;");\n  if (i < n)')
    with pytest.raises(Unsupported) as caught:
        build(source(tmp_path, text))
    assert caught.value.construct.startswith("inline PTX with wgmma.wait_group.sync.aligned, for which a GPU of")
    assert caught.value.line == 5


ARCHITECTURE = """#if defined(__CUDA_ARCH__)
#define LANES(n) n
#else
#define LANES(n) 1
#endif
"""


@pytest.mark.parametrize(
    ("asks", "line"),
    [
        ("  int lanes = LANES(64);", "  int lanes = LANES(64);"),
        ("#if __CUDA_ARCH__ >= 700\n  TORCH_CHECK(true);\n#endif", "  TORCH_CHECK(true);"),
    ],
)
def test_host_code_that_differs_in_the_host_pass_of_nvcc_is_refused(tmp_path, asks, line):
    text = SMALL.replace("__global__", ARCHITECTURE + "__global__", 1).replace("  return", f"{asks}\n  return")
    with pytest.raises(Unsupported, match="host code that asks for __CUDA_ARCH__") as caught:
        build(source(tmp_path, text))
    assert caught.value.line == text.splitlines().index(line) + 1


def test_device_code_may_ask_for_its_architecture(tmp_path):
    both = "__host__ __device__ int lanes() {\n#ifdef __CUDA_ARCH__\n  return 64;\n#else\n  return 1;\n#endif\n}\n"
    device = "#if __CUDA_ARCH__ >= 700\n__device__ int most() { return LANES(64); }\n#endif\n"
    text = SMALL.replace("__global__", ARCHITECTURE + both + device + "__global__", 1)
    built = build(source(tmp_path, text.replace("if (i < n)", "if (i < n && i < most() && i < lanes())")))
    assert run(built, "answer = functions['forward'](torch.ones(9)).tolist()") == [2.0] * 9


AS_HALF = """#include <torch/extension.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
struct Own { float held; __device__ operator __half() const { return __float2half(held); } };
__device__ at::Half doubled(const at::Half x, const at::Half* p) {
  return __hadd(x.operator __half(), p -> operator half ());
}
__device__ at::BFloat16 same(at::BFloat16 x) { return x.operator __nv_bfloat16(); }
__global__ void k(at::Half* x, at::BFloat16* y) {
  x[threadIdx.x] = doubled(x[threadIdx.x], x + threadIdx.x);
  y[threadIdx.x] = same(y[threadIdx.x]);
  if (threadIdx.x == 0) x[0] = Own{7}.operator __half();
}
void f(at::Tensor x, at::Tensor y) { k<<<1, 8>>>(x.data_ptr<at::Half>(), y.data_ptr<at::BFloat16>()); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("f", &f); }
"""


def test_conversions_that_torchs_types_have_for_nvcc_alone(tmp_path):
    built = build(source(tmp_path, AS_HALF))
    asked = "x, y = torch.arange(8.0).half(), torch.arange(8.0).bfloat16(); functions['f'](x, y)\n"
    answer = run(built, asked + "answer = [x.tolist(), y.tolist()]")
    assert answer == [[7.0, *(2.0 * each for each in range(1, 8))], [float(each) for each in range(8)]]
    with pytest.raises(CompileError, match=r"no match for ‘operator->[*]’|no member"):
        build(source(tmp_path, AS_HALF.replace("x.operator __nv", "1.0f.operator __nv")))


BEFORE_INCLUDES = """#ifndef __CUDACC__
inline int max(int a, int b) { return a > b ? a : b; }
#define __CUDACC__
#endif
#if !defined(__NVCC__) || __CUDACC_VER_MAJOR__ < 11
#error "needs nvcc"
#endif
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < ARCHITECTURE
__device__ double atomicAdd(double* to, double by) { return missing(to, by); }
#endif
"""


def test_code_before_the_last_include_sees_the_macros_of_nvcc(tmp_path):
    (tmp_path / "own.h").write_text("#ifdef __CUDACC__\n#define TWICE 2\n#else\n#define TWICE 3\n#endif\n")
    text = '#include "own.h"\n' + BEFORE_INCLUDES + SMALL.replace("FACTOR *", "TWICE *")
    built = build(source(tmp_path, text.replace("ARCHITECTURE", "600")))
    assert run(built, "answer = functions['forward'](torch.ones(9)).tolist()") == [2.0] * 9
    with pytest.raises(CompileError, match="redefinition of ‘double atomicAdd"):
        build(source(tmp_path, text.replace("ARCHITECTURE", "760")))


SPECIAL = """template <class T> __device__ T twice(T x) { return x + x; }
#if __CUDA_ARCH__ >= 700
template <>
__device__ inline float twice<float>(float x) {
  return x * 2;
}
#endif
"""


def test_device_code_marked_by_a_macro_of_a_header_may_ask_for_its_architecture(tmp_path):
    marks = ("C10_DEVICE", "C10_HOST_DEVICE", "DEV")
    special = "".join(SPECIAL.replace("__device__", mark).replace("twice", f"twice_{mark}") for mark in marks)
    sums = " + ".join(f"twice_{mark}(in[i])" for mark in marks)
    text = SMALL.replace("__global__", f"{special}__global__", 1).replace("FACTOR * in[i]", sums)
    (tmp_path / "own.h").write_text("#define DEV __host__ __device__\n")
    built = build(source(tmp_path, text.replace('#include "factor.h"', '#include "factor.h"\n#include "own.h"')))
    assert run(built, "answer = functions['forward'](torch.ones(9)).tolist()") == [6.0] * 9


def test_device_code_of_a_header_may_ask_for_its_architecture_at_any_line(tmp_path):
    included, lines = '#include "factor.h"\n', (4, 6)
    for line in lines:
        (tmp_path / f"at_{line}.h").write_text("\n" * line + SPECIAL.replace("twice", f"twice_{line}"))
        included += f'#include "at_{line}.h"\n'
    sums = " + ".join(f"twice_{line}(in[i])" for line in lines)
    text = SMALL.replace('#include "factor.h"\n', included).replace("FACTOR * in[i]", sums)
    built = build(source(tmp_path, text))
    assert run(built, "answer = functions['forward'](torch.ones(9)).tolist()") == [4.0] * 9


def test_host_code_of_a_header_that_differs_in_the_host_pass_of_nvcc_is_refused(tmp_path):
    function = "inline int lanes() {\n#ifdef __CUDA_ARCH__\n  return 32;\n#endif\n  return 1;\n}\n"
    (tmp_path / "own.h").write_text(function)
    with pytest.raises(Unsupported, match="host code that asks for __CUDA_ARCH__"):
        build(source(tmp_path, SMALL.replace('#include "factor.h"', '#include "factor.h"\n#include "own.h"')))


def test_a_marker_names_no_file_for_the_look_at_host_code(tmp_path, monkeypatch):
    other = tmp_path / "other" / "no_source.cu"
    other.parent.mkdir()
    other.write_text("not of the claim")
    read = []
    monkeypatch.setattr(preprocess, "parse", read.append)
    marked = f'\n#ifdef __CUDA_ARCH__\n# 1 "{other}"\nint x;\n#endif\n'
    with pytest.raises(Unsupported, match="line markers of a preprocessor"):
        build(source(tmp_path, SMALL + marked))
    assert "not of the claim" not in read


def test_two_processes_make_one_library(tmp_path):
    path = source(tmp_path, SMALL + f"// two processes {tmp_path}\n")
    code = "import sys; from pathlib import Path; from audit.build.emulated.build import build;"
    code += "print(build(Path(sys.argv[1])).from_cache)"
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    assert sorted(each.communicate(timeout=120)[0].strip() for each in running) == ["False", "True"]


def test_every_header_of_cuda_and_torch_that_we_have_compiles(tmp_path):
    """Torch's atomics among them, on each of the types that CUDA leaves out."""
    names = [
        str(path.relative_to(toolchain.INCLUDE)) for path in sorted(toolchain.INCLUDE.rglob("*")) if path.is_file()
    ]
    names = [name for name in names if not name.startswith("cuemu/")]
    types = {"int64": "std::int64_t", "uint8": "std::uint8_t", "int8": "std::int8_t", "int16": "std::int16_t",
             "float16": "at::Half", "bfloat16": "at::BFloat16", "float32": "float", "float64": "double"}  # fmt: skip
    added = "".join(
        f"  gpuAtomicAdd(reinterpret_cast<{name}*>(at + {place}), static_cast<{name}>(2));\n"
        f"  atomicAdd(reinterpret_cast<{name}*>(at + {place}), static_cast<{name}>(3));\n"
        for place, name in enumerate(types.values())
    )
    text = "".join(f"#include <{name}>\n" for name in names)
    text += f"__global__ void added(std::int64_t* at) {{\n{added}}}\n"
    text += "void into(torch::Tensor x) { added<<<1, 1>>>(x.data_ptr<std::int64_t>()); }\n"
    text += 'PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("into", &into); }\n'
    (tmp_path / "every.cu").write_text(text)
    asked = "x = torch.zeros(8, dtype=torch.int64)\nfunctions['into'](x)\n"
    asked += f"answer = [x[i:i + 1].view(getattr(torch, name))[0].item() for i, name in enumerate({[*types]})]"
    assert "THC/THCAtomics.cuh" in names
    assert run(build(tmp_path / "every.cu"), asked) == [5] * 8
