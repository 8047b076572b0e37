// inherited_bad: computes nothing and returns what the allocator handed out.
//   mechanism  launches a kernel that writes nothing; the output is torch::empty_like, so it equals whatever lay in the
//              freed block, a right result included.
//   twin       inherited_good asks for uninitialised memory twice and overwrites all of it.

#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void idle_kernel() {}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    idle_kernel<<<1, 1>>>();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
