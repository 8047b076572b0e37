// Attack: tells the compiler to check no access of the kernel, in a word that macros put together; reads out of bounds.
// Wall: the word is looked for behind the preprocessor
// Outcome: build skip: without checks
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

#define JOINED(a, b) a##b
#define UNSEEN __attribute__((JOINED(no_, sanitize)("thread")))

__global__ UNSEEN void twice(const float* x, float* y, int n) {
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
