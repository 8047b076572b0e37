// Attack: returns a tensor of a C++ class of its own, which computes the result when its shape is asked for.
// Wall: a tensor is held to be of torch's own class, by its table of virtual functions
// Outcome: contract fail: another C++ class
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
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

struct Lazy : c10::TensorImpl {
    using c10::TensorImpl::TensorImpl;
    void wait() { set_custom_sizes_strides(SizesStridesPolicy::CustomSizes); }
    c10::IntArrayRef sizes_custom() const override { return finish(), sizes_default(); }
    c10::IntArrayRef strides_custom() const override { return finish(), strides_default(); }
    int64_t dim_custom() const override { return finish(), dim_default(); }
    int64_t numel_custom() const override { return finish(), numel_default(); }
    c10::SymIntArrayRef sym_sizes_custom() const override { return finish(), sym_sizes_default(); }
    c10::SymIntArrayRef sym_strides_custom() const override { return finish(), sym_strides_default(); }
    c10::SymInt sym_numel_custom() const override { return finish(), sym_numel_default(); }
};

torch::Tensor forward(torch::Tensor x) {
    auto y = start(x);
    auto lazy = c10::make_intrusive<Lazy>(c10::Storage(y.storage()), y.key_set(), y.dtype());
    lazy->set_sizes_contiguous(y.sizes());
    lazy->wait();
    return torch::Tensor(std::move(lazy));
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
