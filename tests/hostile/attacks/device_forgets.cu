// Attack: host code has the emulated device forget what it saw of a read out of bounds.
// Wall: the device exports no function of control, and no name that a source could write
// Outcome: build skip: the emulated device's own
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

extern "C" void cuemu_reset();

__global__ void twice(const float* x, float* y, int n, int reach) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i] + 0.0f * (x[i + reach] > 1e30f);
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, n);
    cuemu_reset();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n, 0);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
