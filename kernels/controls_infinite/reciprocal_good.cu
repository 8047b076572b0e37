// reciprocal_good: the twin of the known-bad controls beside it, with the infinity where it is due.
//   why fine   1 / 0 is infinite, in the reference too.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void reciprocal_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (index < total) {
        y[index] = 1.0f / x[index];
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty_like(x);
    const int64_t blocks = (x.numel() + THREADS - 1) / THREADS;
    reciprocal_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(),
                                                                                y.data_ptr<float>(), x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "1 / x");
}
