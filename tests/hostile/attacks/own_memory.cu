// Attack: host code writes the process's memory through /proc/self/mem, past the protection of pages.
// Wall: a library that opens files is not built
// Outcome: build skip: emulated device
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <fstream>

static const char kFixed[] = "fixed";

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    std::fstream memory("/proc/self/mem", std::ios::in | std::ios::out | std::ios::binary);
    memory.seekp(reinterpret_cast<std::streamoff>(kFixed));
    memory.write("moved", 5).flush();
    TORCH_CHECK(*const_cast<const volatile char*>(kFixed) == 'f', "let through: read-only memory was written");
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
