// Attack: calls itself until the stack is at its end.
// Wall: the judge's process holds no claimed code
// Outcome: contract error: SIGSEGV
#include <torch/extension.h>
#include <cuda_runtime.h>

static int sink(volatile int n) {
    volatile char here[4096];
    here[n % 4096] = static_cast<char>(n);
    return sink(n + 1) + here[n % 4096];
}

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    volatile int deep = sink(1);
    (void)deep;
    twice<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
