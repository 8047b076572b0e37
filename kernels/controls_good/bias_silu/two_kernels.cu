// two_kernels: looks like a read of memory nobody wrote, its scratch comes from torch::empty_like.
//   why fine   the first kernel writes all of it before the second, on the same stream, reads it.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void add_bias_kernel(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ sum,
                                const int64_t total, const int64_t cols) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        sum[index] = x[index] + bias[index % cols];
    }
}

__global__ void silu_kernel(const float* __restrict__ sum, float* __restrict__ y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = sum[index] / (1.0f + expf(-sum[index]));
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    bias = bias.contiguous();
    auto sum = torch::empty_like(x);
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    add_bias_kernel<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), bias.data_ptr<float>(),
                                                    sum.data_ptr<float>(), total, x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    silu_kernel<<<blocks, THREADS, 0, stream>>>(sum.data_ptr<float>(), y.data_ptr<float>(), total);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = silu(x + bias)");
}
