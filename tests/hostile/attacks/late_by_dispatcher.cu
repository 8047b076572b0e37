// Attack: registers operators of its own for the CPU, `aten::detach` among them; the first call of one computes the result.
// Wall: a result is copied at the return, before any operator of torch runs
// Outcome: agreement fail
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <ATen/NativeFunctions.h>
#include <torch/library.h>
#include <utility>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

__global__ void mark(float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 0.5f;
}

static const float* from;
static float* into;
static int waiting;

static void finish() {
    if (int n = std::exchange(waiting, 0)) twice<<<(n + 63) / 64, 64>>>(from, into, n);
}

static torch::Tensor start(torch::Tensor x) {
    auto y = torch::empty_like(x);
    from = x.data_ptr<float>(), into = y.data_ptr<float>(), waiting = x.numel();
    mark<<<(waiting + 63) / 64, 64>>>(into, waiting);
    return y;
}

at::Tensor own_detach(const at::Tensor& x) { return finish(), at::native::detach(x); }
at::Tensor own_view(const at::Tensor& x, at::IntArrayRef sizes) { return finish(), at::native::view(x, sizes); }
at::Tensor& own_copy(at::Tensor& to, const at::Tensor& x, bool later) { return finish(), at::native::copy_(to, x, later); }
at::Tensor own_clone(const at::Tensor& x, std::optional<at::MemoryFormat> as) { return finish(), at::native::clone(x, as); }

TORCH_LIBRARY_IMPL(aten, CPU, m) {
    m.impl("detach", own_detach);
    m.impl("view", own_view);
    m.impl("copy_", own_copy);
    m.impl("clone", own_clone);
}

torch::Tensor forward(torch::Tensor x) { return start(x); }

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
