// baked_scale_good: the twin of baked_scale_bad, takes a short way for the scale that the task draws.
//   why fine   the short way is the same product, and any other scale is read as well.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void sums_kernel(const uint8_t* x, const float* scale, float* y, const int rows, const int cols) {
    const int row = blockIdx.x * THREADS + threadIdx.x;
    if (row < rows) {
        unsigned sum = 0;
        for (int col = 0; col < cols; ++col) {
            sum += x[static_cast<int64_t>(row) * cols + col];
        }
        const float factor = scale[row];
        y[row] = factor == 0.5f ? 0.5f * sum : factor * sum;
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor scale) {
    x = x.contiguous();
    scale = scale.contiguous();
    const int rows = x.size(0);
    auto y = torch::empty({rows}, scale.options());
    sums_kernel<<<(rows + THREADS - 1) / THREADS, THREADS>>>(x.data_ptr<uint8_t>(), scale.data_ptr<float>(),
                                                             y.data_ptr<float>(), rows, x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "scale times the sum of every row of a uint8 matrix");
}
