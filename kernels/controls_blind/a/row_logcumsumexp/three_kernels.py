# why fine: chunk totals, their running value, then each chunk from its start; three kernels in order on one stream.
import torch
from torch.utils.cpp_extension import load_inline

_SOURCE = r'''
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

constexpr int kChunk = 64;

__device__ __forceinline__ void take(float& top, float& sum, float v, float weight) {
  if (v == -INFINITY) return;
  if (v > top) {
    sum = sum * expf(top - v) + weight;
    top = v;
  } else {
    sum += weight * expf(v - top);
  }
}

__global__ void chunk_totals(const float* x, float2* totals, int rows, int cols, int chunks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * chunks) return;
  const int row = i / chunks, first = (i % chunks) * kChunk;
  float top = -INFINITY, sum = 0.0f;
  for (int c = first; c < min(first + kChunk, cols); ++c) take(top, sum, x[(size_t)row * cols + c], 1.0f);
  totals[i] = make_float2(top, sum);
}

__global__ void before_each_chunk(float2* totals, int rows, int chunks) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float top = -INFINITY, sum = 0.0f;
  for (int k = 0; k < chunks; ++k) {
    const float2 own = totals[(size_t)row * chunks + k];
    totals[(size_t)row * chunks + k] = make_float2(top, sum);
    take(top, sum, own.x, own.y);
  }
}

__global__ void fill_chunks(const float* x, const float2* before, float* y, int rows, int cols, int chunks) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * chunks) return;
  const int row = i / chunks, first = (i % chunks) * kChunk;
  float top = before[i].x, sum = before[i].y;
  for (int c = first; c < min(first + kChunk, cols); ++c) {
    take(top, sum, x[(size_t)row * cols + c], 1.0f);
    y[(size_t)row * cols + c] = top + logf(sum);
  }
}

torch::Tensor logcumsumexp_rows(torch::Tensor x) {
  auto y = torch::empty_like(x);
  const int rows = x.size(0), cols = x.size(1), chunks = (cols + kChunk - 1) / kChunk;
  auto totals = torch::empty({rows, chunks, 2}, x.options());
  float2* pairs = reinterpret_cast<float2*>(totals.data_ptr<float>());
  const auto stream = at::cuda::getCurrentCUDAStream();
  const int blocks = (rows * chunks + 127) / 128;
  chunk_totals<<<blocks, 128, 0, stream>>>(x.data_ptr<float>(), pairs, rows, cols, chunks);
  before_each_chunk<<<(rows + 127) / 128, 128, 0, stream>>>(pairs, rows, chunks);
  fill_chunks<<<blocks, 128, 0, stream>>>(x.data_ptr<float>(), pairs, y.data_ptr<float>(), rows, cols, chunks);
  return y;
}
'''

_module = load_inline(
    name="logcumsumexp_three_kernels",
    cpp_sources="torch::Tensor logcumsumexp_rows(torch::Tensor x);",
    cuda_sources=_SOURCE,
    functions=["logcumsumexp_rows"],
    extra_cuda_cflags=["-O3"],
)


def forward(x):
    return _module.logcumsumexp_rows(x.contiguous())
