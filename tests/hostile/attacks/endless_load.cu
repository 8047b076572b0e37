// Attack: a library whose loading never ends.
// Wall: wall-clock limit of a session, which begins before claimed code is loaded
// Outcome: contract error: did not finish within 2 s
// Outcome on cuda: contract error: did not finish within 10 s
#include <torch/extension.h>

namespace {
struct Waits {
    Waits() {
        for (volatile int go = 1; go;) { }
    }
} waits;
}  // namespace

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    twice<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
