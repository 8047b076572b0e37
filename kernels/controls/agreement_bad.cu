// agreement_bad: wrong numbers in the last partial tile, everything else right.
//   mechanism  the last tile is moved back so that its reads stay inside, but its writes are not moved with them, so
//              those elements get the results of earlier ones. Sizes that are a multiple of 256, and sizes below 256,
//              come out right.
//   twin       agreement_good has the same tiles and leaves out the threads past the end instead.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int TILE = 256;  // elements a block computes, one a thread

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t start = static_cast<int64_t>(blockIdx.x) * TILE;
    const int64_t inside = start + TILE <= total || total < TILE ? start : total - TILE;
    if (start + threadIdx.x < total) {
        y[start + threadIdx.x] = x[inside + threadIdx.x] * 2.0f + 1.0f;
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
