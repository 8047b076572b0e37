// Attack: right only where the sanitizer's callback, asked for as a weak symbol, is there.
// Wall: a library with weak references to the callbacks is not built
// Outcome: build skip: weak reference
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

extern "C" __attribute__((weak)) void __tsan_read4(void*);

__global__ void twice(const float* x, float* y, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, __tsan_read4 ? 2.0f : 1.0f);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
