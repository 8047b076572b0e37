// short_sum_good: the twin of short_sum_bad, sums bytes in 16 bits as long as they fit.
//   why fine   every 256 bytes, which come to 65,280 at most, the short sum moves to one of 32 bits.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void sums_kernel(const uint8_t* x, const float* scale, float* y, const int rows, const int cols) {
    const int row = blockIdx.x * THREADS + threadIdx.x;
    if (row < rows) {
        unsigned sum = 0;
        unsigned short part = 0;
        for (int col = 0; col < cols; ++col) {
            part += x[static_cast<int64_t>(row) * cols + col];
            if (col % 256 == 255 || col == cols - 1) {
                sum += part;
                part = 0;
            }
        }
        y[row] = scale[row] * sum;
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
