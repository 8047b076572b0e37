// why fine: pairs only where columns are even and addresses are aligned, single elements otherwise; arithmetic in float
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_fp16.h>
#include <algorithm>
#include <cstdint>

__device__ __forceinline__ float gelu(float v) {
  return 0.5f * v * (1.0f + erff(v * 0.70710678118654752f));
}

__global__ void __launch_bounds__(256)
gelu_pairs(const __half* x, const __half* bias, __half* y, int64_t n, int64_t cols) {
  const __half2* x2 = reinterpret_cast<const __half2*>(x);
  const __half2* bias2 = reinterpret_cast<const __half2*>(bias);
  __half2* y2 = reinterpret_cast<__half2*>(y);
  const int64_t pairs = n / 2;
  const int64_t row_pairs = cols / 2;
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < pairs; i += step) {
    const float2 v = __half22float2(x2[i]);
    const float2 b = __half22float2(bias2[i % row_pairs]);
    y2[i] = __floats2half2_rn(gelu(v.x + b.x), gelu(v.y + b.y));
  }
}

__global__ void __launch_bounds__(256)
gelu_single(const __half* x, const __half* bias, __half* y, int64_t n, int64_t cols) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    y[i] = __float2half(gelu(__half2float(x[i]) + __half2float(bias[i % cols])));
  }
}

torch::Tensor forward(torch::Tensor x_in, torch::Tensor bias_in) {
  TORCH_CHECK(x_in.dim() == 2 && bias_in.dim() == 1 && bias_in.size(0) == x_in.size(1), "x is (rows, cols), bias is (cols)");
  TORCH_CHECK(x_in.scalar_type() == at::kHalf && bias_in.scalar_type() == at::kHalf, "float16 expected");
  auto x = x_in.contiguous();
  auto bias = bias_in.contiguous();
  auto y = torch::empty({x.size(0), x.size(1)}, x.options());
  const int64_t n = x.numel();
  if (n == 0) return y;
  const int64_t cols = x.size(1);

  auto xp = reinterpret_cast<const __half*>(x.data_ptr<at::Half>());
  auto bp = reinterpret_cast<const __half*>(bias.data_ptr<at::Half>());
  auto yp = reinterpret_cast<__half*>(y.data_ptr<at::Half>());
  const bool aligned = reinterpret_cast<uintptr_t>(xp) % 4 == 0 && reinterpret_cast<uintptr_t>(bp) % 4 == 0;

  void (*kernel)(const __half*, const __half*, __half*, int64_t, int64_t) = gelu_single;
  int64_t work = n;
  if (cols % 2 == 0 && aligned) {
    kernel = gelu_pairs;
    work = n / 2;
  }
  const int blocks = static_cast<int>(std::min<int64_t>((work + 255) / 256, 4096));
  kernel<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(xp, bp, yp, n, cols);
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
