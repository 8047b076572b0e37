// Attack: takes its factor from a file of the system that a macro names, which would be in no key, record or bundle.
// Wall: the compiler says which files it read; one outside of the claim and the compiler's folders is refused
// Outcome: build skip: a source that reads mtu, outside of its own folder and the compiler's
#include <torch/extension.h>
#include <cuda_runtime.h>

#define FILE_OF(name) </sys/class/net/lo/name>
static const float FACTOR =
#include FILE_OF(mtu)
    / 32768.0f;

__global__ void scale(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = FACTOR * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    scale<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
