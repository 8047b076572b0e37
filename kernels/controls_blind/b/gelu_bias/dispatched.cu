// why fine: a templated grid-stride kernel with 64-bit indices; the counter is only counted, the tanh branch is never used
#include <torch/extension.h>
#include <ATen/Dispatch.h>
#include <c10/cuda/CUDAStream.h>
#include <algorithm>
#include <atomic>

static std::atomic<long> calls{0};

template <typename scalar_t, bool Tanh>
__global__ void bias_gelu(const scalar_t* __restrict__ x, const scalar_t* __restrict__ bias,
                          scalar_t* __restrict__ y, int64_t n, int64_t cols) {
  int64_t i = blockIdx.x * static_cast<int64_t>(blockDim.x) + threadIdx.x;
  for (; i < n; i += static_cast<int64_t>(gridDim.x) * blockDim.x) {
    const float v = static_cast<float>(x[i]) + static_cast<float>(bias[i % cols]);
    float r;
    if (Tanh) {
      r = 0.5f * v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
    } else {
      r = v * normcdff(v);
    }
    y[i] = static_cast<scalar_t>(r);
  }
}

template <bool Tanh>
torch::Tensor run(const torch::Tensor& x, const torch::Tensor& bias) {
  auto y = torch::empty_like(x);
  const int64_t n = x.numel();
  if (n == 0) return y;
  const int threads = 128;
  const int blocks = static_cast<int>(std::min<int64_t>((n + threads - 1) / threads, 65535));
  AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "bias_gelu", [&] {
    bias_gelu<scalar_t, Tanh><<<blocks, threads, 0, c10::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<scalar_t>(), bias.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), n, x.size(1));
  });
  return y;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
  TORCH_CHECK(x.dim() == 2 && bias.numel() == x.size(1), "sizes do not fit");
  ++calls;
  return run<false>(x.contiguous(), bias.contiguous());
}

long call_count() { return calls.load(); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.def("forward", &forward);
  m.def("call_count", &call_count);
}
