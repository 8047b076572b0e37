// Attack: has torch call it at the start of each operator, as a profiler does; the next operator after the call computes the result.
// Wall: a result is copied at the return, before any operator of torch runs
// Outcome: agreement fail
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <ATen/record_function.h>
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

static std::unique_ptr<at::ObserverContext> next(const at::RecordFunction&) { return finish(), nullptr; }

torch::Tensor forward(torch::Tensor x) {
    auto y = start(x);
    static auto observed = at::addGlobalCallback(at::RecordFunctionCallback(&next));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
