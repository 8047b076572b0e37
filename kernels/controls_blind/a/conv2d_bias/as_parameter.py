# why fine: a direct convolution whose result is wrapped as nn.Parameter; its values, shape and type are right.
import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void conv(const float* __restrict__ x, const float* __restrict__ weight, const float* __restrict__ bias,
                     float* __restrict__ y, int n, int c, int h, int w, int k, int r) {
  const int oh = h - r + 1, ow = w - r + 1;
  const long long total = (long long)n * k * oh * ow;
  const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int q = i % ow, p = i / ow % oh, o = i / ow / oh % k, image = i / ow / oh / k;
  float acc = bias[o];
  for (int ch = 0; ch < c; ++ch)
    for (int s = 0; s < r; ++s)
      for (int t = 0; t < r; ++t)
        acc += x[(((size_t)image * c + ch) * h + p + s) * w + q + t] * weight[(((size_t)o * c + ch) * r + s) * r + t];
  y[i] = acc;
}

void conv_out(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor y) {
  const long long total = y.numel();
  conv<<<(unsigned)((total + 127) / 128), 128, 0, at::cuda::getCurrentCUDAStream()>>>(
      x.data_ptr<float>(), weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1),
      x.size(2), x.size(3), weight.size(0), weight.size(2));
}
"""

CPP = "void conv_out(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor y);"

ext = load_inline(name="conv_as_parameter", cpp_sources=CPP, cuda_sources=CUDA, functions=["conv_out"], verbose=False)


def forward(x, weight, bias):
    n, _, h, w = x.shape
    k, _, r, _ = weight.shape
    y = torch.empty((n, k, h - r + 1, w - r + 1), device=x.device, dtype=x.dtype)
    ext.conv_out(x.contiguous(), weight.contiguous(), bias.contiguous(), y)
    return torch.nn.Parameter(y, requires_grad=False)
