// fresh_values_bad_pointer: computes once for every address it is given.
//   mechanism  a static map keeps the result by the address of the input; new values at the same address get the old
//              result. A benchmark that calls with the same tensor again and again never notices.
//   twin       fresh_values_good keeps a table by size in the same way, which does not depend on values.

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

static torch::Tensor computed(const torch::Tensor& x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

torch::Tensor forward(torch::Tensor x) {
    static std::unordered_map<const void*, torch::Tensor> known;
    const void* key = x.data_ptr<float>();
    if (known.count(key) == 0 || known[key].sizes() != x.sizes()) {
        known[key] = computed(x);
    }
    return known[key].clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
