"""On a GPU: a source that uses most of what host code does with kernels, built the fast way and run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from audit.build.cuda import fast, gpu, toolchain
from audit.build.cuda.device import fast_digests

ROOT = Path(__file__).resolve().parents[2]
needs_gpu = pytest.mark.skipif(toolchain.missing() is not None, reason=f"needs a GPU: {toolchain.missing()}")
SOURCE = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
namespace {
__constant__ float weights[4];
__device__ int calls;
__device__ float weighted(float x, int i) { return x * weights[i % 4]; }
}  // namespace
namespace inner {
struct Scale { float by; int times; };
template <typename T, int B>
__global__ void __launch_bounds__(B) scale(const T* __restrict__ in, T* out, int64_t n, Scale how) {
  extern __shared__ char raw[];
  T* held = reinterpret_cast<T*>(raw);
  int64_t i = blockIdx.x * int64_t(B) + threadIdx.x;
  held[threadIdx.x] = i < n ? in[i] : T(0);
  __syncthreads();
  if (i < n) out[i] = held[threadIdx.x] * how.by * how.times;
}
}  // namespace inner
static __global__ void weigh(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) atomicAdd(&calls, 1);
  if (i < n) out[i] = weighted(in[i], i);
}
#define RUN(KERNEL, N, ...) KERNEL<<<((N) + 255) / 256, 256>>>(__VA_ARGS__)
torch::Tensor weighted_sum(torch::Tensor x, std::vector<double> w) {
  float host[4];
  for (int i = 0; i < 4; i++) host[i] = w[i];
  C10_CUDA_CHECK(cudaMemcpyToSymbol(weights, host, sizeof(weights)));
  auto out = torch::empty_like(x);
  RUN(weigh, x.numel(), x.data_ptr<float>(), out.data_ptr<float>(), x.numel());
  return out;
}
int64_t counted() {
  int n = -1;
  AT_CUDA_CHECK(cudaMemcpyFromSymbol(&n, calls, sizeof(int)));
  return n;
}
torch::Tensor scaled(torch::Tensor x, double by) {
  auto out = torch::empty_like(x);
  const int64_t n = x.numel();
  const int bytes = 100 * 1024;
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "scaled", [&] {
    auto kernel = inner::scale<scalar_t, 128>;
    C10_CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    kernel<<<dim3((n + 127) / 128), dim3(128), bytes, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), out.data_ptr<scalar_t>(), n, {float(by), 1});
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return out;
}
int64_t blocks_per_sm() {
  int blocks = 0, grid = 0, block = 0;
  C10_CUDA_CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, inner::scale<float, 128>, 128, 0));
  C10_CUDA_CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, weigh, 0, 0));
  return blocks * 10000 + block;
}
int64_t refused(torch::Tensor x) {
  weigh<<<1, 2048>>>(x.data_ptr<float>(), x.data_ptr<float>(), 1);
  return cudaGetLastError();
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("weighted_sum", &weighted_sum);
  m.def("counted", &counted);
  m.def("scaled", &scaled, py::arg("x"), py::arg("by") = 2.0);
  m.def("blocks_per_sm", &blocks_per_sm);
  m.def("refused", &refused);
}
"""
WORKER = """
import json, sys
from pathlib import Path
import torch
from audit.build.cuda import fast_load
known = {Path(file): digest for file, digest in json.loads(sys.argv[3]).items()}
f = fast_load.load(Path(sys.argv[1]), binding=Path(sys.argv[2]), digests=known)
x = torch.arange(1000, dtype=torch.float32, device="cuda")
told = {"weighted": f["weighted_sum"](x, [1.0, 2.0, 3.0, 4.0])[:6].tolist(), "calls": f["counted"]()}
told["scaled"] = f["scaled"](x)[-1].item()
told["double"] = f["scaled"](x.double(), by=3.0)[-1].item()
try:
    f["scaled"](x.half())
except NotImplementedError as error:
    told["half"] = str(error)
told["blocks"], told["refused"] = f["blocks_per_sm"](), f["refused"](x)
told["after"] = f["scaled"](x)[1].item()
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the source's functions return in a process of their own."""
    folder = tmp_path_factory.mktemp("fast")
    (folder / "source.cu").write_text(SOURCE)
    card = gpu.find().compute_capability
    with pytest.MonkeyPatch.context() as changed:
        changed.setenv("AUDIT_CACHE", str(folder))
        built, again = (fast.build(folder / "source.cu", flags=("-O3",), compute_capability=card) for _ in range(2))
    assert (built.from_cache, again.from_cache) == (False, True)
    assert built.left_out == ("inner::scale<c10::Half, 128>",)
    known = {str(file): digest for file, digest in fast_digests(built).items()}
    command = [sys.executable, "-c", WORKER, str(built.library), str(built.binding), json.dumps(known)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


@needs_gpu
def test_constant_memory_and_device_variables_are_the_kernels_own(told: dict[str, Any]) -> None:
    assert told["weighted"] == [0.0, 2.0, 6.0, 12.0, 4.0, 10.0]
    assert told["calls"] == 1


@needs_gpu
def test_instantiations_large_shared_memory_structs_and_streams(told: dict[str, Any]) -> None:
    assert (told["scaled"], told["double"]) == (1998.0, 2997.0)


@needs_gpu
def test_an_instantiation_with_torchs_types_says_so(told: dict[str, Any]) -> None:
    assert "needs torch's types" in told["half"]


@needs_gpu
def test_occupancy_is_asked_of_the_real_kernel(told: dict[str, Any]) -> None:
    assert told["blocks"] // 10000 >= 1
    assert told["blocks"] % 10000 >= 32


@needs_gpu
def test_a_refused_launch_is_the_runtimes_last_error_and_breaks_nothing(told: dict[str, Any]) -> None:
    assert told["refused"] in (1, 9)  # invalid value, invalid configuration: which one is the runtime's choice
    assert told["after"] == 2.0
