// nonfinite_bad: a NaN goes in and a number comes out.
//   mechanism  clamps with fmaxf, which returns the other argument where one is NaN; infinities are cut off too.
//   twin       nonfinite_good compares and keeps what compares with nothing.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr float LIMIT = 1e30f;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = fminf(fmaxf(x[index], -LIMIT), LIMIT) * 2.0f + 1.0f;
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
