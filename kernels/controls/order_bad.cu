// order_bad: right only after somebody else has computed the same result.
//   mechanism  writes rows 0, 2, 4, ... into memory from torch::empty_like. If that memory is the block a right result
//              was freed from, as a caching allocator hands it out, rows 1, 3, 5, ... are right as well.
//   twin       order_good has the same launch of half as many blocks as rows, and its loop goes over all rows.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t rows, const int64_t cols) {
    for (int64_t row = 2 * static_cast<int64_t>(blockIdx.x); row < rows; row += 2 * static_cast<int64_t>(gridDim.x)) {
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
