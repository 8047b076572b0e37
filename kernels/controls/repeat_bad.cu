// repeat_bad: works until nobody looks any more.
//   mechanism  counts its calls; after more than a warm-up and a check need, it returns copies of one earlier result.
//   twin       repeat_good counts its calls as well, and computes in each.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int PATIENCE = 20;  // calls that are computed

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
    static int calls = 0;
    static torch::Tensor kept;
    ++calls;
    if (calls > PATIENCE && kept.sizes() == x.sizes()) {
        return kept.clone();
    }
    kept = computed(x);
    return kept.clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
