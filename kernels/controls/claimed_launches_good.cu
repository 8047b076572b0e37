// claimed_launches_good: the twin of claimed_launches_bad.
//   mechanism  eight elements a block, as many blocks as the known-bad one asks for.
//   why fine   they lie along x, where a grid has up to 2,147,483,647.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int ELEMENTS = 8;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * ELEMENTS + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const dim3 grid((total + ELEMENTS - 1) / ELEMENTS);
    scale_shift_kernel<<<grid, ELEMENTS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
