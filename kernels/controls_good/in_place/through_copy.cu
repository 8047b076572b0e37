// through_copy: looks like a detour that hides where the result comes from, a fresh tensor is copied back over the
//   input.
//   why fine   x ends up changed and returned, as the reference leaves it; the copy costs time and nothing else.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    const auto from = x.contiguous();
    auto y = torch::empty_like(from);
    const int64_t total = from.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(from.data_ptr<float>(),
                                                                                 y.data_ptr<float>(), total);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    x.copy_(y);
    return x;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "x becomes 2 x + 1");
}
