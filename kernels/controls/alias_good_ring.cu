// alias_good_ring: the twin of alias_bad_ring.
//   mechanism  a static ring of eight buffers saves allocations.
//   why fine   they are workspaces: each is written and read within one call, never returned.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int RING = 8;

__global__ void scale_kernel(const float* x, float* doubled, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        doubled[index] = x[index] * 2.0f;
    }
}

__global__ void shift_kernel(const float* doubled, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = doubled[index] + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    static torch::Tensor ring[RING];
    static unsigned calls = 0;
    torch::Tensor& doubled = ring[calls++ % RING];
    if (!doubled.defined() || doubled.sizes() != x.sizes()) {
        doubled = torch::empty_like(x);
    }
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), doubled.data_ptr<float>(), total);
    shift_kernel<<<blocks, THREADS>>>(doubled.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
