from __future__ import annotations

from typing import Any

import pytest

from audit.review.cuda_source import parse
from audit.review.unsupported import is_refused_header, unsupported
from tests.review.sample import SAMPLE


@pytest.mark.parametrize(
    ("body", "construct"),
    [
        ("cublasLtMatrixTransform(handle, 1);", "cuBLAS"),
        ("cublasCgemm(handle, 1);", "cuBLAS"),
        ("auto sums = CUBLAS_COMPUTE_32I;", "cuBLAS"),
        ("cudnnHandle_t h;", "cuDNN"),
        ("curandState state;", "cuRAND"),
        ("typedef cub::BlockHistogram<float, 256> R;", "CUB"),
        ("cub::DeviceReduce::ReduceByKey(a);", "CUB"),
        ("thrust::sort(a, b);", "Thrust"),
        ("cutlass::half_t x;", "CUTLASS"),
        ("using namespace cute; cute::Layout l;", "CUTLASS"),
        ("float x = tex2D<float>(t, 1, 2);", "textures"),
        ("texture<float, 1> t;", "textures"),
        ("surf2Dwrite(a, s, 1, 2);", "surfaces"),
        ("auto g = cg::this_multi_grid();", "grid-wide synchronisation"),
        ("cudaLaunchCooperativeKernel(k, g, b, a);", "cooperative launch"),
        ("cudaGraphLaunch(g, s);", "CUDA graphs"),
    ],
)
def test_construct_is_named_with_its_line(body: str, construct: str) -> None:
    assert [(each.construct, each.line) for each in unsupported(parse(f"\n\nvoid f() {{\n  {body}\n}}"))] == [
        (construct, 4)
    ]


@pytest.mark.parametrize(
    ("body", "library"),
    [
        ("cublasSgemm(handle, CUBLAS_OP_N);", "cuBLAS"),
        ("at::cuda::getCurrentCUDABlasHandle();", "cuBLAS"),
        ("cublasLtMatmul(at::cuda::getCurrentCUDABlasLtHandle(), CUBLASLT_EPILOGUE_BIAS);", "cuBLAS"),
        ("cub::BlockReduce<float, 256> r;", "CUB"),
        ("cub::DeviceReduce::Sum(a); using R = cub::DeviceReduce;", "CUB"),
    ],
)
def test_what_is_modelled_of_a_library_counts_only_where_all_of_it_does(body: str, library: str) -> None:
    source = parse(f"void f() {{ {body} }}")
    assert unsupported(source) == []
    assert [each.construct for each in unsupported(source, whole_libraries=True)] == [library]


def test_a_name_that_the_source_gives_is_not_the_library_s() -> None:
    assert unsupported(parse("void cublasCheck(int s) {}\nvoid f() { cublasCheck(cublasDestroy(h)); }")) == []
    assert unsupported(parse("#define cublasMust(x) x\nvoid f() { cublasMust(1); }")) == []


def test_a_launch_from_a_kernel_is_dynamic_parallelism() -> None:
    found = unsupported(
        parse("__global__ void a() {}\n__global__ void b() {\n  a<<<1, 1>>>();\n}\nvoid f() { b<<<1, 1>>>(); }")
    )
    assert [(each.construct, each.line) for each in found] == [("dynamic parallelism", 3)]


def test_each_construct_once_in_order_of_lines() -> None:
    found = unsupported(parse("void f() { thrust::a();\n cute::a(); cute::b();\n cub::CTA_SYNC(); thrust::c(); }"))
    assert [(each.construct, each.line) for each in found] == [("Thrust", 1), ("CUTLASS", 2), ("CUB", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "// cublasSgemm, cub::BlockReduce",
        '/* thrust:: */ const char* s = "cublasCreate tex2D<float>(";',
        "#include <cublas_v2.h>\n#include <cub/cub.cuh>",
        "#define UNUSED(x) cub::x",
        "#if 0\nthrust::a();\n#endif",
        'void f() { asm volatile("membar.gl;"); }',
        "int texture = 1, cube = 2, cub = 3, surface = texture < cub;",
        "auto g = cg::this_thread_block(); cg::tiled_partition<32>(g);",
        SAMPLE,
    ],
)
def test_nothing_to_refuse(text: str) -> None:
    assert unsupported(parse(text)) == []


@pytest.mark.parametrize(
    ("text", "flags", "lines"),
    [
        ("#ifdef WITH_CUDNN\ncudnnHandle_t handle;\n#endif\n", (), []),
        ("#ifdef WITH_CUDNN\ncudnnHandle_t handle;\n#endif\n", ("WITH_CUDNN",), [2]),
        ("#define WITH_CUDNN\n#ifdef WITH_CUDNN\ncudnnHandle_t handle;\n#endif\n", (), [3]),
        ("#ifdef WITH_CUDNN\nint x;\n#else\ncudnnHandle_t handle;\n#endif\n", (), [4]),
        ("#ifndef WITH_CUDNN\ncudnnHandle_t handle;\n#endif\n", (), [2]),
        ("#ifdef __CUDACC__\ncudnnHandle_t handle;\n#endif\n", (), [2]),
    ],
)
def test_what_stands_under_a_name_that_nobody_defines_does_not_count(text: str, flags: Any, lines: list[int]) -> None:
    assert [each.line for each in unsupported(parse(text), defined=flags)] == lines


def test_a_used_macro_counts() -> None:
    found = unsupported(parse("#define COPY(x) thrust::copy(x)\nvoid f() { COPY(a); }"))
    assert [(each.construct, each.line) for each in found] == [("Thrust", 1)]


def test_refused_headers() -> None:
    assert is_refused_header("cublas_v2.h") and is_refused_header("cub/cub.cuh") and is_refused_header("thrust/sort.h")
    assert not is_refused_header("cuda_runtime.h") and not is_refused_header("cooperative_groups.h")
