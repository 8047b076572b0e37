// quarter_steps: looks like hard-coded numbers instead of a computation, the weights are 0.75 and 0.25.
//   why fine   for a factor of two they are the only weights there are; the output's parity says which neighbour gets
//              which.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void upsample_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t rows,
                                const int64_t cols, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= total) {
        return;
    }
    const int64_t col = index % (2 * cols), row = index / (2 * cols) % (2 * rows);
    const float* image = x + index / (4 * rows * cols) * rows * cols;
    const int64_t near_row = row / 2, near_col = col / 2;
    const int64_t far_row = min(max(near_row + (row % 2 ? int64_t(1) : int64_t(-1)), int64_t(0)), rows - 1);
    const int64_t far_col = min(max(near_col + (col % 2 ? int64_t(1) : int64_t(-1)), int64_t(0)), cols - 1);
    const float near_sum = 0.75f * image[near_row * cols + near_col] + 0.25f * image[near_row * cols + far_col];
    const float far_sum = 0.75f * image[far_row * cols + near_col] + 0.25f * image[far_row * cols + far_col];
    y[index] = 0.75f * near_sum + 0.25f * far_sum;
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty({x.size(0), 2 * x.size(1), 2 * x.size(2)}, x.options());
    const unsigned blocks = (y.numel() + THREADS - 1) / THREADS;
    upsample_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), x.size(1), x.size(2), y.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "bilinear upsampling by two");
}
