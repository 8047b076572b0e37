// nonfinite_good: the twin of nonfinite_bad.
//   mechanism  treats numbers that are not finite apart.
//   why fine   they go through the same sum: 2 NaN + 1 is NaN, 2 inf + 1 is infinite.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr float LIMIT = 1e30f;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        const float value = x[index];
        y[index] = value > -LIMIT && value < LIMIT ? value * 2.0f + 1.0f : value + value + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
