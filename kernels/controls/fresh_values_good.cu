// fresh_values_good: the twin of fresh_values_bad_*, keeps only what does not depend on values.
//   mechanism  a static map as in fresh_values_bad_pointer.
//   why fine   it holds the number of blocks by size; the result is computed in every call.

#include <torch/extension.h>
#include <cuda_runtime.h>
#include <unordered_map>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    static std::unordered_map<int64_t, unsigned> blocks_of;
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    if (blocks_of.count(total) == 0) {
        blocks_of[total] = (total + THREADS - 1) / THREADS;
    }
    scale_shift_kernel<<<blocks_of[total], THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
