// row_blocks: looks broken, half of what it writes is infinite.
//   why fine   minus infinity is what softmax needs above the diagonal, and what the reference has there.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;
constexpr float SCALE = 0.125f;

__global__ void scores_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t n) {
    const int64_t row = blockIdx.x;
    for (int64_t col = threadIdx.x; col < n; col += THREADS) {
        const int64_t index = row * n + col;
        y[index] = col <= row ? x[index] * SCALE : -INFINITY;
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty_like(x);
    scores_kernel<<<x.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(),
                                                                               y.data_ptr<float>(), x.size(0));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "scaled scores, minus infinity above the diagonal");
}
