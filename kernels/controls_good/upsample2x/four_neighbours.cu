// four_neighbours: looks like reads past the rim, each output wants four inputs.
//   why fine   the far row and column are clamped to the last one, where their weight falls on the same element.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int SIDE = 16;

__global__ void upsample_kernel(const float* __restrict__ x, float* __restrict__ y, const int rows, const int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= 2 * rows || col >= 2 * cols) {
        return;
    }
    const float down = fmaxf((row + 0.5f) / 2 - 0.5f, 0.0f), right = fmaxf((col + 0.5f) / 2 - 0.5f, 0.0f);
    const int top = static_cast<int>(down), left = static_cast<int>(right);
    const int bottom = min(top + 1, rows - 1), far = min(left + 1, cols - 1);
    const float lower = down - top, outer = right - left;
    const float* image = x + static_cast<int64_t>(blockIdx.z) * rows * cols;
    const float above = (1 - outer) * image[top * cols + left] + outer * image[top * cols + far];
    const float below = (1 - outer) * image[bottom * cols + left] + outer * image[bottom * cols + far];
    y[(static_cast<int64_t>(blockIdx.z) * 2 * rows + row) * 2 * cols + col] = (1 - lower) * above + lower * below;
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    const int rows = x.size(1), cols = x.size(2);
    auto y = torch::empty({x.size(0), 2 * rows, 2 * cols}, x.options());
    const dim3 threads(SIDE, SIDE), blocks((2 * cols + SIDE - 1) / SIDE, (2 * rows + SIDE - 1) / SIDE, x.size(0));
    upsample_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                                              rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "bilinear upsampling by two");
}
