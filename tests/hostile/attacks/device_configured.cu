// Attack: host code looks the emulated device's functions up by names made at run time, sets memory to zero, ends the checks.
// Wall: a library that needs dlsym is not built
// Outcome: build skip: dlsym
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <string>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += 2.0f * x[i];
}

torch::Tensor forward(torch::Tensor x) {
    std::string name = std::string("cue") + "mu_configure";
    using Configure = void (*)(int, int, int, unsigned, int, int, unsigned, unsigned, double, long);
    if (auto configure = reinterpret_cast<Configure>(dlsym(RTLD_DEFAULT, name.c_str())))
        configure(3, 0, 0, 0, 0, 75, 0, 0, 20.0, -1);
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
