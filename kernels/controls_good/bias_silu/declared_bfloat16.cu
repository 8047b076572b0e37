// declared_bfloat16: looks like a hidden precision downgrade, float32 in and out and bf16 between.
//   why fine   claim.toml declares it as bf16 with a tolerance of its own, so it is compared with bf16 only.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <cuda_bf16.h>

constexpr int THREADS = 256;

__global__ void bias_silu_kernel(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                                 const int64_t total, const int64_t cols) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        const float value = __bfloat162float(__float2bfloat16(x[index])) +
                            __bfloat162float(__float2bfloat16(bias[index % cols]));
        y[index] = __bfloat162float(__float2bfloat16(value / (1.0f + expf(-value))));
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    bias = bias.contiguous();
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    bias_silu_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), total, x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = silu(x + bias)");
}
