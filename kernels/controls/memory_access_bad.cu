// memory_access_bad: a race in shared memory that a GPU usually gets away with.
//   mechanism  each thread stages one element and uses its neighbour's, with no barrier between the two. Neighbours sit
//              in one warp, which mostly runs in step, so the result is mostly right; nothing promises it.
//   twin       memory_access_good is the same file with the barrier.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int TILE = 256;  // elements a block stages, one a thread; even, so that neighbours share a tile

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    __shared__ float staged[TILE];
    const int64_t start = static_cast<int64_t>(blockIdx.x) * TILE;
    const int own = threadIdx.x;
    const int neighbour = own ^ 1;
    staged[own] = start + own < total ? x[start + own] : 0.0f;
    if (start + neighbour < total) {
        y[start + neighbour] = staged[neighbour] * 2.0f + 1.0f;
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
