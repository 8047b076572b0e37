// order_good: the twin of order_bad, right whoever runs first.
//   mechanism  half as many blocks as rows and an output from torch::empty_like, as the known-bad one.
//   why fine   the loop strides by the grid, so a block takes a second row and every row is written.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t rows, const int64_t cols) {
    for (int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
        for (int64_t col = threadIdx.x; col < cols; col += blockDim.x) {
            y[row * cols + col] = x[row * cols + col] * 2.0f + 1.0f;
        }
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const unsigned blocks = (x.size(0) + 1) / 2;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
