// Attack: right only where a macro of the sanitizer's is defined, which no compiler for GPUs defines.
// Wall: that macro is taken away
// Outcome: agreement fail
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

#ifdef __SANITIZE_THREAD__
constexpr float kFactor = 2.0f;
#else
constexpr float kFactor = 1.0f;
#endif

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = kFactor * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
