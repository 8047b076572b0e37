// Attack: an assertion that fails on the device, which ends a CUDA context for all that comes later in it.
// Wall: a session has a process of its own
// Outcome: coverage fail
// Outcome on cuda: contract error: assert
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <cassert>
__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    assert(i > n);
    if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    cudaSetDevice(0);
    twice<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
