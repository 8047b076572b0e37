from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from audit.build.cuda.fast import joined
from audit.build.cuda.gpu import SPECIFIC
from audit.build.device_part import device_part
from audit.claims import load
from audit.model import Variant
from audit.review.cuda_source import parse
from tests.conftest import some
from tests.review.sample import SAMPLE, spoiled

_CLAIM = load("triangular_mm", lessons=True)
_VARIANTS = [one for one in _CLAIM.claim.variant if one.file.endswith(".cu")]
_SOURCE = r"""#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <vector>
#include <cooperative_groups.h>
#include <mma.h>
using namespace torch;
using namespace nvcuda;
namespace cg = cooperative_groups;
namespace F = torch::nn::functional;
#define TILE 16
#define CHECK(x) TORCH_CHECK(x.is_cuda())
constexpr int WIDTH = 32;
static std::vector<torch::Tensor> kept;
static cudaStream_t stream = nullptr;
__constant__ float weights[TILE];
constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }
torch::Tensor forward(torch::Tensor x);
struct Pair { float a, b; __host__ __device__ float sum() const { return a + b; } };
struct Options { at::Tensor x; };
#if defined(NEVER) && NEVER > 2
int never() { return 1; }
#else
__device__ float half_of(float x) { return x / 2; }
#endif
namespace inner {
int host_only() { return 3; }
template <typename T> __device__ T twice(T x) { return x + x; }
}
template <typename T>
__global__ void kernel(const T* in, T* out, int n) {
  auto block = cg::this_thread_block();
  __shared__ T tile[ceil_div(WIDTH, 2)];
  int64_t i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x % TILE] = i < n ? in[i] : std::numeric_limits<T>::max();
  block.sync();
  Pair p{half_of(tile[0]), weights[0]};
  if (i < n) out[i] = inner::twice(p.sum()) + INFINITY;
}
template __global__ void kernel<float>(const float*, float*, int);
extern "C" { void plain_host(int a) {} }
torch::Tensor forward(torch::Tensor x) {
  kernel<float><<<1, 16>>>(x.data_ptr<float>(), x.data_ptr<float>(), 1);
  return x;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
"""


_PRELUDE = """\
#include <algorithm>
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <cuda_fp16.h>
#line 1
"""
"""Headers that torch's headers include and device code relies on."""


def _part(text: str) -> str:
    return device_part(parse(text))


@pytest.mark.parametrize(
    "gone",
    [
        "torch",
        "ATen",
        "<vector>",
        "PYBIND11",
        "host_only",
        "plain_host",
        "forward",
        "never()",
        "cudaStream_t",
        "Options",
        "<<<",
    ],
)
def test_the_host_part_goes(gone: str) -> None:
    assert gone not in re.sub(r"#define CHECK.*", "", _part(_SOURCE))


@pytest.mark.parametrize(
    "kept",
    [
        "#include <cooperative_groups.h>",
        "#include <mma.h>",
        "using namespace nvcuda;",
        "namespace cg = cooperative_groups;",
        "#define TILE 16",
        "constexpr int WIDTH = 32;",
        "__constant__ float weights[TILE];",
        "constexpr int ceil_div",
        "struct Pair",
        "#if defined(NEVER) && NEVER > 2",
        "__device__ float half_of",
        "template <typename T> __device__ T twice",
        "template __global__ void kernel<float>",
    ],
)
def test_the_device_part_stays(kept: str) -> None:
    assert kept in _part(_SOURCE)


@pytest.mark.parametrize("text", [_SOURCE, SAMPLE])
def test_every_line_keeps_its_number(text: str) -> None:
    produced = _part(text).split("\n")
    original = parse(text).code.split("\n")
    assert len(produced) == len(original)
    assert all(
        new_character in (" ", old_character)
        for new, old in zip(produced, original, strict=True)
        for new_character, old_character in zip(new, old, strict=True)
    )


def test_nothing_crashes() -> None:
    for text in some(spoiled()):
        assert _part(text).count("\n") >= text.count("\n")


def _compile(text: str, folder: Path, archs: list[int]) -> bytes:
    """Machine code of the device part for each architecture, in one fat binary."""
    if shutil.which("nvcc") is None:
        pytest.skip("needs nvcc, which is not on the path")
    source, binary = folder / "part.cu", folder / "part.fatbin"
    source.write_text(_PRELUDE + _part(text), encoding="utf-8")
    relaxed = "--expt-relaxed-constexpr"  # one of the flags that torch's extension builder always passes
    named = [f"{arch}{SPECIFIC.get(arch, '')}" for arch in archs]
    targets = [f"-gencode=arch=compute_{arch},code=sm_{arch}" for arch in named]
    command = ["nvcc", *targets, relaxed, "-fatbin", "-o", str(binary), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return binary.read_bytes()


def test_a_device_compiler_takes_it_without_torch(tmp_path: Path) -> None:
    assert len(_compile(_SOURCE, tmp_path, [75])) > 1000


@pytest.mark.parametrize("variant", _VARIANTS, ids=lambda variant: variant.name)
def test_variants_compile_for_every_gpu_their_header_allows(variant: Variant, tmp_path: Path) -> None:
    text, _ = joined(_CLAIM.path / variant.file)
    stated = f"compute capability {variant.compute_capability // 10}.{variant.compute_capability % 10}"
    assert stated in text.partition("\n#")[0]
    archs = [arch for arch in (75, 80, 89, 90) if arch >= variant.compute_capability]
    assert len(_compile(text, tmp_path, archs)) > 1000
