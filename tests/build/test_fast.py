"""The host part through the real compiler, and what keeps a source from being built at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.build.cuda import fast, fast_toolchain
from audit.build.cuda.fast_host import KEY, host_part
from audit.build.cuda.fast_symbols import device_variables, offset_of, symbols
from audit.build.emulated import toolchain
from audit.build.settings import OPENER
from audit.model.errors import BadInput, Unsupported
from audit.review.cuda_source import parse

SOURCE = """#include <mma.h>
namespace wmma = nvcuda::wmma;
using Sums = wmma::fragment<wmma::accumulator, 16, 16, 16, float>;
namespace { __constant__ float weights[4]; }
__device__ float twice(float x) { return x * weights[threadIdx.x]; }
template <typename T, int B>
static __global__ void __launch_bounds__(B) scale(const T* __restrict__ in, T* out, long n) { out[0] = twice(in[0]); }
extern "C" __global__ void fill(float4* out) { out[threadIdx.x] = make_float4(0, 0, 0, 0); }
void run(float* p, double* q, cudaStream_t s) {
  const float host[4] = {1, 2, 3, 4};
  cudaMemcpyToSymbol(weights, host, sizeof(host));
  auto kernel = scale<double, 64>;
  cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  kernel<<<dim3(1, 2), 64, 65536, s>>>(q, q, 1);
  scale<float, 32><<<1, 32>>>(p, p, 1);
  fill<<<1, 1>>>(reinterpret_cast<float4*>(p));
}
"""
headers = fast_toolchain.cuda_include_of(toolchain.find().torch)
needs_headers = pytest.mark.skipif(headers is None, reason="needs CUDA's headers: install the CUDA toolkit")


@needs_headers
def test_gcc_compiles_the_host_part_and_its_symbols_name_every_kernel(tmp_path: Path) -> None:
    source = parse(SOURCE)
    head = '#include "cufast/device_names.h"\n#include "cufast/launch.h"\n'
    (tmp_path / "host.cpp").write_text(head + host_part(source, name="source.cu"))
    folders = [f"-I{fast_toolchain.INCLUDE}", f"-isystem{headers}", f"-isystem{toolchain.find().torch / 'include'}"]
    arguments = ["-std=c++20", "-O1", "-fPIC", "-w", "-fvisibility=hidden", "-shared", *folders]
    built, log = toolchain.compile_file([*arguments, "host.cpp", "-o", "host.so"], folder=tmp_path)
    assert built, log
    listing = fast_toolchain.listing(tmp_path / "host.so")
    found = {each.expression: each for each in symbols(listing, key=KEY, variables=device_variables(source))}
    assert set(found) == {"scale<double, 64>", "scale<float, 32>", "fill", "&weights"}
    assert len(found["scale<double, 64>"].offsets) == 2  # the key in its stub, and the stub whose address was taken
    assert offset_of(OPENER, listing) > 0


def test_a_missing_source_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot be read"):
        fast.build(tmp_path / "none.cu", flags=(), compute_capability=90)


def test_a_source_without_kernels_is_for_the_published_build(tmp_path: Path) -> None:
    (tmp_path / "k.cu").write_text("// __global__ in a comment is none\nint forward() { return 0; }\n")
    with pytest.raises(fast_toolchain.NotFast, match="defines no kernel"):
        fast.build(tmp_path / "k.cu", flags=(), compute_capability=90)


def test_headers_beside_the_source_are_read_in_the_place_of_their_includes(tmp_path: Path) -> None:
    (tmp_path / "sizes.cuh").write_text("#pragma once\n#include <mma.h>\nconstexpr int B = 8;")
    (tmp_path / "fill.h").write_text("__global__ void fill(float* p) { *p = B; }\n")
    (tmp_path / "k.cu").write_text('#include "sizes.cuh"\n  # include "fill.h"\nint last;\n')
    text, reads = fast.joined(tmp_path / "k.cu")
    assert [one.file for one in reads] == ["fill.h", "k.cu", "sizes.cuh"]
    assert text.splitlines() == [
        '#line 1 "sizes.cuh"', "", "#include <mma.h>", "constexpr int B = 8;", '#line 2 "k.cu"', '#line 1 "fill.h"',
        "__global__ void fill(float* p) { *p = B; }", "", '#line 3 "k.cu"', "int last;",
    ]  # fmt: skip
    assert [each.name for each in parse(text).functions] == ["fill"]


@pytest.mark.parametrize(
    "line",
    [
        '#include "sizes.cuh"\n#include "sizes.cuh"',
        '#include "sizes.cuh" /*',
        '#include "nested.h"',
        '#include "link.h"',
        '#include "absent.h"',
        '#include "folder/sizes.cuh"',
    ],
)
def test_other_headers_beside_the_source_are_for_the_published_build(line: str, tmp_path: Path) -> None:
    (tmp_path / "sizes.cuh").write_text("#pragma once\nconstexpr int B = 8;\n")
    (tmp_path / "nested.h").write_text('#include "sizes.cuh"\n')
    (tmp_path / "link.h").symlink_to(tmp_path / "sizes.cuh")
    (tmp_path / "k.cu").write_text(f"{line}\n//*/\n__global__ void k() {{}}\n")
    with pytest.raises(fast_toolchain.NotFast, match="the header"):
        host_part(parse(fast.joined(tmp_path / "k.cu")[0]), name="k.cu")


def test_a_refusal_is_unsupported_and_speaks_of_the_published_build() -> None:
    refusal = fast_toolchain.NotFast("textures", line=7)
    assert isinstance(refusal, Unsupported)
    assert str(refusal) == "the fast build does not take textures (line 7); use the published build"


def test_the_standard_is_the_one_torchs_builder_asks_for() -> None:
    ask = {"2.11.0+cu130": "c++17", "2.15.0": "c++20"}
    assert {version: fast_toolchain.standard_of(version) for version in ask} == ask
