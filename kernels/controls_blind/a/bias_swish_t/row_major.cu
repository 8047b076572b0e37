// why fine: computes row major and returns out.t(); shape and every value are those of the task, only the strides are not contiguous.
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_bf16.h>

__global__ void swish_rows(const __nv_bfloat16* __restrict__ x, const __nv_bfloat16* __restrict__ bias,
                           __nv_bfloat16* __restrict__ y, long long total, int cols) {
  const long long stride = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < total; i += stride) {
    const float v = __bfloat162float(x[i]) + __bfloat162float(bias[i % cols]);
    y[i] = __float2bfloat16(v / (1.0f + __expf(-v)));
  }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
  x = x.contiguous();
  bias = bias.contiguous();
  auto y = torch::empty_like(x);
  const long long total = x.numel();
  if (total == 0) return y.t();
  const int blocks = (int)std::min<long long>((total + 255) / 256, 4096);
  swish_rows<<<blocks, 256, 0, at::cuda::getCurrentCUDAStream()>>>(
      reinterpret_cast<const __nv_bfloat16*>(x.data_ptr<at::BFloat16>()),
      reinterpret_cast<const __nv_bfloat16*>(bias.data_ptr<at::BFloat16>()),
      reinterpret_cast<__nv_bfloat16*>(y.data_ptr<at::BFloat16>()), total, (int)x.size(1));
  return y.t();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
