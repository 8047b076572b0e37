// agreement_good: the twin of agreement_bad, right for every size.
//   mechanism  the same tiles of 256; in the last one the threads past the end do nothing.
//   why fine   every element is read and written at one and the same index, and only where it exists.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int TILE = 256;  // elements a block computes, one a thread

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t start = static_cast<int64_t>(blockIdx.x) * TILE;
    const int64_t index = start + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned tiles = (total + TILE - 1) / TILE;
    scale_shift_kernel<<<tiles, TILE>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
