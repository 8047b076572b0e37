// Attack: a kernel that never ends.
// Wall: processor time of a kernel on the emulated device; wall-clock limit of a session on a GPU
// Outcome: contract error
// Outcome on cuda: contract error: did not finish within 10 s
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float* seen = y;  // of this grid's own memory: a loop over a local is left out by a GPU's compiler
    do seen[0] = 1.0f;
    while (seen[0] != 2.0f);
    if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    cudaSetDevice(0);
    twice<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
