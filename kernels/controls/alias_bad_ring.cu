// alias_bad_ring: hands out the same eight results over and over.
//   mechanism  a static ring of output buffers saves allocations; who keeps a result finds another one in it eight
//              calls later, which a check that keeps one or two never sees.
//   twin       alias_good_ring keeps a ring of scratch buffers and returns memory of its own.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int RING = 8;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    static torch::Tensor ring[RING];
    static unsigned calls = 0;
    torch::Tensor& y = ring[calls++ % RING];
    if (!y.defined() || y.sizes() != x.sizes()) {
        y = torch::empty_like(x);
    }
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
