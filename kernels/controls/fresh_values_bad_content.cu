// fresh_values_bad_content: computes only if a sample of the input has changed.
//   mechanism  the first elements of the input are compared with those of the last call; where they are equal, the last
//              result is returned. A change behind the sample goes unseen.
//   twin       fresh_values_good has no sample and computes every time.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int64_t SAMPLE = 64;  // elements compared

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
    static torch::Tensor sample;
    static torch::Tensor last;
    const int64_t count = x.numel() < SAMPLE ? x.numel() : SAMPLE;
    auto seen = x.view({-1}).slice(0, 0, count).cpu();
    if (!last.defined() || last.sizes() != x.sizes() || !seen.equal(sample)) {
        sample = seen.clone();
        last = computed(x);
    }
    return last.clone();
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
