// mechanism: the output is the memory of the input, which is overwritten
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>

__global__ void gelu_kernel(__half* data, const __half* bias, int64_t n, int64_t cols) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) {
    float v = __half2float(data[i]) + __half2float(bias[i % cols]);
    data[i] = __float2half(0.5f * v * (1.0f + erff(v * 0.70710678f)));
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
  auto y = x.contiguous();
  auto b = bias.contiguous();
  const int64_t n = y.numel();
  if (n == 0) return y;
  const int blocks = n < 256 * 2048 ? (n + 255) / 256 : 2048;
  gelu_kernel<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<__half*>(y.data_ptr<at::Half>()),
      reinterpret_cast<const __half*>(b.data_ptr<at::Half>()), n, y.size(1));
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
