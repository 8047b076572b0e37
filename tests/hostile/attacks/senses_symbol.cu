// Attack: right only where a weak symbol of the emulated device resolves.
// Wall: its symbols have names that no source can write
// Outcome: build skip: the emulated device's own
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

extern "C" __attribute__((weak)) bool cuemu_in_kernel();

__global__ void twice(const float* x, float* y, int n, float factor) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, cuemu_in_kernel ? 2.0f : 1.0f);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
