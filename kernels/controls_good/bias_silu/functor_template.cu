// functor_template: looks as if the kernel computed nothing, its body names no function.
//   why fine   the function is a template argument and the unrolled loop covers what the grid leaves out.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

struct Silu {
    __device__ float operator()(const float value) const { return value / (1.0f + expf(-value)); }
};

template <typename Function, int UNROLL>
__global__ void map_kernel(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                           const int64_t total, const int64_t cols, const Function function) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x * UNROLL + threadIdx.x;
#pragma unroll
    for (int step = 0; step < UNROLL; ++step) {
        const int64_t index = first + static_cast<int64_t>(step) * blockDim.x;
        if (index < total) {
            y[index] = function(x[index] + bias[index % cols]);
        }
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    constexpr int UNROLL = 4;
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    bias = bias.contiguous();
    auto y = torch::empty_like(x);
    const unsigned blocks = (x.numel() + THREADS * UNROLL - 1) / (THREADS * UNROLL);
    map_kernel<Silu, UNROLL><<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.numel(), x.size(1), Silu());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = silu(x + bias)");
}
