// by_contract: looks like a theft of the input, the call changes x and returns the very same tensor.
//   why fine   the reference does both, it is the contract of an in-place operation.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(float* x, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        x[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_contiguous(), "x must be contiguous, since it is changed in place");
    const c10::cuda::CUDAGuard guard(x.device());
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), total);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "x becomes 2 x + 1");
}
