# why fine: the same result is computed twice into the same memory, which wastes time and changes nothing
import torch
from torch.utils.cpp_extension import load_inline

_CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void rotate_pairs(const float* x, const float* cs, const float* sn, float* y,
                             int64_t pairs, int64_t seq, int64_t heads, int64_t half) {
  const int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  const int64_t d = i % half;
  const int64_t head = i / half;
  const int64_t place = head / heads % seq;
  const float c = cs[place * half + d];
  const float s = sn[place * half + d];
  const float a = x[head * 2 * half + d];
  const float b = x[head * 2 * half + half + d];
  y[head * 2 * half + d] = a * c - b * s;
  y[head * 2 * half + half + d] = b * c + a * s;
}

torch::Tensor rotary(torch::Tensor x, torch::Tensor cos, torch::Tensor sin) {
  TORCH_CHECK(x.dim() == 4 && x.size(3) % 2 == 0, "(batch, seq, heads, even dim) expected");
  x = x.contiguous();
  cos = cos.contiguous();
  sin = sin.contiguous();
  auto y = torch::empty_like(x);
  const int64_t pairs = x.numel() / 2;
  if (pairs == 0) return y;
  for (int pass = 0; pass < 2; ++pass) {
    rotate_pairs<<<(pairs + 127) / 128, 128, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), cos.data_ptr<float>(), sin.data_ptr<float>(), y.data_ptr<float>(),
        pairs, x.size(1), x.size(2), x.size(3) / 2);
  }
  return y;
}
"""

_module = load_inline(
    name="rotary_twice",
    cpp_sources=["torch::Tensor rotary(torch::Tensor x, torch::Tensor cos, torch::Tensor sin);"],
    cuda_sources=[_CUDA],
    functions=["rotary"],
)


def forward(x, cos, sin):
    return _module.rotary(x, cos, sin)
