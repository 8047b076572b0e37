// joined_thread: looks like work moved to a thread that no timer sees, every call starts one.
//   why fine   the thread computes the number of blocks and is joined before the launch; none is left when the call
//              returns.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <thread>

constexpr int THREADS = 256;

__global__ void bias_silu_kernel(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                                 const int64_t total, const int64_t cols) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        const float value = x[index] + bias[index % cols];
        y[index] = value / (1.0f + expf(-value));
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    bias = bias.contiguous();
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    unsigned blocks = 0;
    std::thread planner([&blocks, total] { blocks = (total + THREADS - 1) / THREADS; });
    planner.join();
    bias_silu_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), total, x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = silu(x + bias)");
}
