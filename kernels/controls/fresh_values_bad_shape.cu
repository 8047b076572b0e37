// fresh_values_bad_shape: computes once for every shape.
//   mechanism  a static tensor keeps the last result; a call whose input has the same sizes gets a copy of it.
//   twin       fresh_values_good keeps something by size too, which does not depend on values.

#include <torch/extension.h>
#include <cuda_runtime.h>

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
    static torch::Tensor last;
    if (!last.defined() || last.sizes() != x.sizes()) {
        last = computed(x);
    }
    return last.clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
