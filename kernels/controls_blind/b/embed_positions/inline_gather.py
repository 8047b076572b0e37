# why fine: one thread an element with 64-bit indices; an empty batch returns early, the second kernel is simply not used
import torch
from torch.utils.cpp_extension import load_inline

CUDA_TEXT = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

template <bool WithPositions>
__global__ void embed(const int64_t* ids, const float* table, const float* places, float* out,
                      int64_t total, int64_t seq, int64_t dim) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int64_t token = i / dim, d = i % dim;
  float v = table[ids[token] * dim + d];
  if (WithPositions) v += places[(token % seq) * dim + d];
  out[i] = v;
}

__global__ void scale_rows(float* data, float by, int64_t total) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i < total) data[i] *= by;
}

torch::Tensor embed_positions(torch::Tensor ids, torch::Tensor table, torch::Tensor places) {
  TORCH_CHECK(ids.scalar_type() == torch::kInt64, "int64 indices expected");
  ids = ids.contiguous();
  table = table.contiguous();
  places = places.contiguous();
  auto out = torch::empty({ids.size(0), ids.size(1), table.size(1)}, table.options());
  const int64_t total = out.numel();
  if (total == 0) return out;
  embed<true><<<(total + 255) / 256, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      ids.data_ptr<int64_t>(), table.data_ptr<float>(), places.data_ptr<float>(), out.data_ptr<float>(),
      total, ids.size(1), table.size(1));
  return out;
}
"""

CPP_TEXT = """
torch::Tensor embed_positions(torch::Tensor ids, torch::Tensor table, torch::Tensor places);
"""

_extension = load_inline(
    name="embed_positions_inline",
    cpp_sources=CPP_TEXT,
    cuda_sources=CUDA_TEXT,
    functions=["embed_positions"],
    extra_cuda_cflags=["-O3"],
)


def forward(indices, table, positions):
    return _extension.embed_positions(indices, table, positions)
