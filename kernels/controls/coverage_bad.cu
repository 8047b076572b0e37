// coverage_bad: writes one row of the output and leaves the rest as it was.
//   mechanism  the kernel takes its row from the y index, the launch has one dimension, so the row is always 0.
//   twin       coverage_good has the same 1-D launch and a kernel that goes through the rows itself.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t rows, const int64_t cols) {
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < rows && col < cols) {
        y[row * cols + col] = x[row * cols + col] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t rows = x.size(0);
    const int64_t cols = x.size(1);
    const unsigned blocks = (cols + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), rows, cols);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
