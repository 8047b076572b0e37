"""The host part: kernels become stubs, launches become calls; what cannot be taken is named."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from audit.build.cuda import fast_toolchain
from audit.build.cuda.fast_host import host_part, operator_includes
from audit.build.cuda.fast_toolchain import NotFast
from audit.build.emulated import toolchain
from audit.review.cuda_source import parse

SOURCE = r"""#include <torch/extension.h>
#include <mma.h>
#include <c10/cuda/CUDAGuard.h>
__constant__ float weights[4];
__device__ float twice(float x) { return __ldg(&x) * 2; }
__host__ __device__ int both(int x) { return x; }
template <typename T, int B>
__global__ void scale(const T* __restrict__ in, T* out, int n) {
  int i = blockIdx.x * B + threadIdx.x;
  if (i < n) out[i] = twice(in[i]);
}
void host(float* p, int n, cudaStream_t s) {
  cudaMemcpyToSymbol(weights, p, 16);
  scale<float, 256><<<(n + 255) / 256,
                      256, 0, s>>>(p, p, n);
}
"""


def translated(text: str) -> str:
    return host_part(parse(text), name="source.cu")


def test_a_kernel_becomes_a_stub_with_its_own_parameters() -> None:
    text = translated(SOURCE)
    assert "__global__ void scale(const T* __restrict__ in, T* out, int n) { static char cufast_key;" in text
    assert "{(void*)&in, (void*)&out, (void*)&n, nullptr}" in text
    assert "threadIdx" not in text


def test_a_kernel_may_state_the_size_of_its_clusters() -> None:
    text = translated("__global__ void __cluster_dims__(2, 1, 1) k(float* p) { *p = 0; }\n")
    assert "__cluster_dims__(2, 1, 1) k(float* p) { static char cufast_key;" in text
    with pytest.raises(NotFast, match="cudaLaunchKernelExC"):
        translated("void host() { cudaLaunchKernelExC(nullptr, nullptr, nullptr); }\n")


def test_a_launch_configures_then_calls() -> None:
    text = translated(SOURCE)
    assert "(::cufast::configure((n + 255) / 256," in text
    assert "256, 0, s), scale<float, 256>(p, p, n));" in text
    assert "<<<" not in text


def test_device_functions_lose_their_bodies_and_shared_ones_keep_them() -> None:
    text = translated(SOURCE)
    assert "__device__ float twice(float x) {}" in text
    assert "__host__ __device__ int both(int x) { return x; }" in text


def test_symbols_are_reached_through_the_binding() -> None:
    assert "::cufast::cudaMemcpyToSymbol(weights, p, 16);" in translated(SOURCE)


def test_only_headers_that_are_not_precompiled_are_read() -> None:
    text = translated(SOURCE)
    assert "torch/extension.h" not in text
    assert "mma.h" not in text
    assert "#include <c10/cuda/CUDAGuard.h>" in text


def test_lines_stay_where_they_are() -> None:
    lines = translated(SOURCE).splitlines()
    assert lines[0] == '#line 1 "source.cu"'
    assert "void host" in lines[SOURCE.splitlines().index("void host(float* p, int n, cudaStream_t s) {") + 1]


def test_a_launch_in_a_macro_stays_one_logical_line() -> None:
    text = translated("#define RUN(K, N) \\\n  K<<<N, \\\n 32>>>(N)\nvoid f() { RUN(k, 1); }\n")
    assert "#define RUN(K, N) \\\n  (::cufast::configure(N, \\\n 32), K(N))\n" in text


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("void f() { cublasSgemm(); }", "cuBLAS"),
        ("__global__ void k() { k<<<1, 1>>>(); }", "dynamic parallelism"),
        ("__global__ void k(float x) { tex1D(x, 0); }", "textures"),
        ("void f() { cudaFuncSetCacheConfig(k, cudaFuncCachePreferL1); }", "cudaFuncSetCacheConfig"),
        ("void f() { cudaOccupancyAvailableDynamicSMemPerBlock(0, k, 1, 1); }", "cudaOccupancyAvailable"),
        ("void f() { cudaLaunchCooperativeKernel(k, 1, 1, 0); }", "cooperative launch"),
        ("__global__ void k(float&) {}", "kernel parameter 'float&'"),
        ('#include "mine.cuh"', "the header mine.cuh"),
    ],
)
def test_what_is_not_taken_is_named_with_its_line(line: str, named: str) -> None:
    with pytest.raises(NotFast, match=named) as caught:
        translated("\n" + line + "\n")
    assert caught.value.line == 2


@pytest.mark.parametrize(
    "text",
    [
        '#define IMPL "impl.h"\n#include IMPL',
        '#include_next "impl.h"',
        '#import "impl.h"',
        "%:include IMPL",
        '#if __has_include("impl.h")\nint x;\n#endif',
        '#inc\\\nlude "impl.h"',
        "#include <../impl.h>",
        '#include "cuda/../impl.h"',
        "#include </srv/impl.h>",
    ],
)
def test_a_header_that_is_not_known_by_its_name_takes_the_published_build(text: str) -> None:
    with pytest.raises(NotFast):
        translated(f"#include <cuda_runtime.h>\n{text}\n")


def test_inline_assembly_runs_on_a_gpu_and_is_taken() -> None:
    assert "asm" not in translated('__global__ void k(int* p) { asm("mov.u32 %0, 1;" : "=r"(*p)); }\n')


def test_operators_are_included_where_torch_has_a_header() -> None:
    source = parse("void f() { torch::matmul(a, b); torch::made_up(a); }\n")
    assert operator_includes(source, frozenset({"matmul", "cat"})) == "#include <ATen/ops/matmul.h>\n"


def included(header: Path) -> Iterator[Path]:
    """The header and all that it includes of the kit's own."""
    yield header
    for name in re.findall(r'^#include "(.+)"', header.read_text(), re.MULTILINE):
        found = [folder / name for folder in (fast_toolchain.INCLUDE, toolchain.INCLUDE) if (folder / name).is_file()]
        yield from included(found[0])


def test_the_prelude_defines_no_type_that_cudas_own_headers_define() -> None:
    names = {header.name for header in included(fast_toolchain.INCLUDE / "cufast" / "prelude.h")}
    assert {"bind.h", "min_max.h", "launch.h"} < names
    assert not names & {"abi.h", "vector_types.h", "half_types.h"}
