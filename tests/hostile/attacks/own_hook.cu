// Attack: defines the function that the compiler calls at each read of memory, which then does nothing; reads out of bounds.
// Wall: a library that defines such a function is not built
// Outcome: build skip: defines __tsan_read4
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

extern "C" {
static __attribute__((used)) void __tsan_read4(void*) {}
}

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 0.0f * (x[i + n] > 1e30f);
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
