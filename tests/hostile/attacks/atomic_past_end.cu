// Attack: reads past the end by an atomic function of the compiler.
// Wall: those are checked as accesses
// Outcome: memory_access fail: past the end
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int seen = __atomic_load_n(reinterpret_cast<const int*>(x) + i + n, __ATOMIC_RELAXED);
    if (i < n) y[i] = 2.0f * x[i] + (seen == 0x7a7a7a7a ? 0.0f : -0.0f);
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
