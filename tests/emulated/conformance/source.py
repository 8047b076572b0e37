"""The CUDA source of a group of questions: one kernel a question, behind one function that launches by number."""

from __future__ import annotations

from collections.abc import Mapping

from tests.emulated.conformance.entry import NUMBERS, Entry

_LAUNCH = """
// One launch for all kernels of the same parameters: a launch of its own costs a compiler more than the kernel does.
template <class... Parameters>
void launched(void (*kernel)(Parameters...), int blocks, int threads, Parameters... arguments) {
  kernel<<<blocks, threads>>>(arguments...);
}
"""

_ALWAYS = ("cuda_runtime.h", "cuda_fp16.h", "cuda_bf16.h")
# What a source must name to get these headers, which take a compiler long.
_HEADERS = {
    "__nv_cvt_": ("cuda_fp8.h",),
    "__nv_fp8": ("cuda_fp8.h",),
    "wmma::": ("mma.h",),
    "__pipeline": ("cuda_pipeline.h",),
    "cuda::": ("cuda/pipeline",),
    "cg::": (
        "cooperative_groups.h",
        "cooperative_groups/reduce.h",
        "cooperative_groups/scan.h",
        "cooperative_groups/memcpy_async.h",
    ),
}
_NAMESPACES = {"wmma::": "using namespace nvcuda;", "cg::": "namespace cg = cooperative_groups;"}
_GPU = """
#include <cstdio>
#include <cstring>
extern "C" const char* ask(int entry, const void* a, size_t a_bytes, const void* b, size_t b_bytes, const void* c,
                           size_t c_bytes, void* out, size_t out_bytes, int n, int blocks, int threads) {
  void *da, *db, *dc, *result;
  cudaMalloc(&da, a_bytes + 16); cudaMalloc(&db, b_bytes + 16); cudaMalloc(&dc, c_bytes + 16); cudaMalloc(&result, out_bytes);
  cudaMemcpy(da, a, a_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b, b_bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(dc, c, c_bytes, cudaMemcpyHostToDevice);
  cudaMemset(result, 0, out_bytes);
  switch (entry) {
LAUNCHES
  }
  cudaError_t error = cudaDeviceSynchronize();
  cudaMemcpy(out, result, out_bytes, cudaMemcpyDeviceToHost);
  cudaError_t last = cudaGetLastError();
  cudaFree(da); cudaFree(db); cudaFree(dc); cudaFree(result);
  return error == cudaSuccess && last == cudaSuccess ? "" : cudaGetErrorString(error == cudaSuccess ? last : error);
}
"""
# Threads one after another, for functions that the toolkit gives the host too.
_HOST = """
#define __global__ static
#define __device__ static
#define blockIdx host_block
#define blockDim host_size
#define threadIdx host_thread
static uint3 host_block, host_size, host_thread;
"""
_HOST_LAUNCH = """
template <class... Parameters>
void launched(void (*kernel)(Parameters...), int blocks, int threads, Parameters... arguments) {
  host_size.x = threads;
  for (host_block.x = 0; host_block.x < blocks; host_block.x++)
    for (host_thread.x = 0; host_thread.x < threads; host_thread.x++) kernel(arguments...);
}
extern "C" const char* ask(int entry, void* da, size_t, void* db, size_t, void* dc, size_t, void* result, size_t, int n,
                           int blocks, int threads) {
  switch (entry) {
LAUNCHES
  }
  return "";
}
"""
_EMULATED = """
#include <torch/extension.h>
torch::Tensor ask(int64_t entry, torch::Tensor ta, torch::Tensor tb, torch::Tensor tc, int64_t out_bytes, int64_t n,
                  int64_t blocks, int64_t threads) {
  auto answer = torch::zeros({out_bytes}, ta.options());
  void *da = ta.data_ptr(), *db = tb.data_ptr(), *dc = tc.data_ptr(), *result = answer.data_ptr();
  switch (entry) {
LAUNCHES
  }
  return answer;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("ask", &ask); }
"""


def for_gpu(entries: Mapping[int, Entry]) -> str:
    """A source for nvcc, without torch: `extern "C" ask(number, operands, bytes, result, bytes, n, blocks, threads)`."""
    return _text(entries, _GPU)


def for_host(entries: Mapping[int, Entry]) -> str:
    """The same function for nvcc without a GPU: the kernels run on the host, with the toolkit's host code."""
    return _text(entries, _HOST_LAUNCH, before=_HOST, launch="")


def for_emulator(entries: Mapping[int, Entry]) -> str:
    """The same kernels as a torch extension."""
    return _text(entries, _EMULATED)


def _text(entries: Mapping[int, Entry], host: str, *, before: str = "", launch: str = _LAUNCH) -> str:
    kernels = "".join(_kernel(number, entry) for number, entry in entries.items())
    launches = "\n".join(f"    case {number}: {_launch(number, entry)} break;" for number, entry in entries.items())
    return _head(kernels) + before + kernels + launch + host.replace("LAUNCHES", launches)


def _head(kernels: str) -> str:
    headers = [*_ALWAYS, *(each for name, needed in _HEADERS.items() if name in kernels for each in needed)]
    namespaces = [each for name, each in _NAMESPACES.items() if name in kernels]
    return "".join(f"#include <{each}>\n" for each in headers) + "".join(f"{each}\n" for each in namespaces)


def _launch(number: int, entry: Entry) -> str:
    casts = [f"(const {NUMBERS[key].cuda}*)d{'abc'[i]}" for i, key in enumerate(entry.types)]
    arguments = ", ".join(casts)
    return f"launched(entry_{number}, blocks, threads, {arguments}, ({NUMBERS[entry.result].cuda}*)result, (int)n);"


def _kernel(number: int, entry: Entry) -> str:
    types = [NUMBERS[key].cuda for key in entry.types]
    result = NUMBERS[entry.result].cuda
    arrays = ", ".join(f"const {cuda}* {'abc'[i]}" for i, cuda in enumerate(types))
    head = f"// {entry.name}\n"
    if entry.kind == "block":
        return f"{head}__global__ void entry_{number}({arrays}, {result}* out, int n) {{ {entry.code} }}\n"
    values = ", ".join(f"{cuda} {'abc'[i]}" for i, cuda in enumerate(types))
    arguments = ", ".join(f"{'abc'[i]}[i]" for i in range(len(types)))
    if entry.kind in ("each", "lanes"):
        code = entry.code if "return" in entry.code else f"return {entry.code};"
        return (
            f"{head}__device__ {result} value_{number}({values}, unsigned lane) {{ {code} }}\n"
            f"__global__ void entry_{number}({arrays}, {result}* out, int n) {{\n"
            f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
            f"  if (i < n) out[i] = value_{number}({arguments}, threadIdx.x);\n}}\n"
        )
    return head + _cell(number, entry, arrays, result, types)


def _cell(number: int, entry: Entry, arrays: str, result: str, types: list[str]) -> str:
    operands = " ".join(f"{cuda} {'abc'[j]}_ = {'abc'[j]}[i];" for j, cuda in enumerate(types))
    call = entry.code
    for j in range(len(types)):
        call = call.replace(f" {'abc'[j]})", f" {'abc'[j]}_)").replace(f" {'abc'[j]},", f" {'abc'[j]}_,")
    shared = f"  __shared__ {result} held[128];\n" if entry.kind == "shared_cell" else ""
    place = "held + threadIdx.x" if shared else "out + 2 * i"
    return (
        f"__global__ void entry_{number}({arrays}, {result}* out, int n) {{\n{shared}"
        f"  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  {operands}\n"
        f"  {result}* cell = {place};\n  *cell = a_;\n  {result} old = {call};\n"
        f"  out[2 * i + 1] = old;\n  out[2 * i] = *cell;\n}}\n"
    )
