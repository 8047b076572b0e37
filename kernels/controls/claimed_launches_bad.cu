// claimed_launches_bad: right at every small size, refused at the size that counts.
//   mechanism  eight elements a block, and the blocks along y, where a grid has at most 65,535 of them; a matrix of
//              1000 x 1000 asks for 125,000, the launch is refused, and nobody looks at the error.
//   twin       claimed_launches_good has the same blocks along x.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int ELEMENTS = 8;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.y) * ELEMENTS + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const dim3 grid(1, (total + ELEMENTS - 1) / ELEMENTS);
    scale_shift_kernel<<<grid, ELEMENTS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
