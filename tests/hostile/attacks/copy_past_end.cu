// Attack: reads past the end by memcpy of a length known at run time, where the compiler tells of no access.
// Wall: calls of memcpy go to the runtime, which checks what they touch
// Outcome: memory_access fail: past the end
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float held[2];
    if (i < n) {
        memcpy(held, x + i, (n > 0 ? 2 : 1) * sizeof(float));
        y[i] = 2.0f * held[0];
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
