// coverage_good: the twin of coverage_bad, writes every element once.
//   mechanism  a 1-D launch of a kernel that uses the y index, as the known-bad one.
//   why fine   the y index is only where a loop over all rows starts, and the loop strides by the y size of the grid:
//              with a 1-D launch a thread goes through its whole column.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t rows, const int64_t cols) {
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    for (int64_t row = blockIdx.y * blockDim.y + threadIdx.y; row < rows; row += gridDim.y * blockDim.y) {
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
