// Attack: a kernel that writes far outside every allocation, which ends a CUDA context for all that comes later in it.
// Wall: a session has a process of its own
// Outcome: memory_access fail
// Outcome on cuda: contract fail: illegal memory access
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i + (1ll << 40)] = 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    cudaSetDevice(0);
    twice<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
