// any_layout: looks like layout blindness, it asks for no contiguous input.
//   why fine   the kernel is given both strides, so a view is read as it lies.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int SIDE = 16;

__global__ void transpose_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t rows,
                                 const int64_t cols, const int64_t row_stride, const int64_t col_stride) {
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows && col < cols) {
        y[col * rows + row] = x[row * row_stride + col * col_stride];
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    const int64_t rows = x.size(0), cols = x.size(1);
    auto y = torch::empty({cols, rows}, x.options());
    const dim3 threads(SIDE, SIDE), blocks((cols + SIDE - 1) / SIDE, (rows + SIDE - 1) / SIDE);
    transpose_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), y.data_ptr<float>(), rows, cols, x.stride(0), x.stride(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "the transposed matrix, contiguous");
}
