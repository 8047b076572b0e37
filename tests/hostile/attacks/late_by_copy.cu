// Attack: returns a copy that torch makes when it is written to, by an allocator of its own, which computes the result there.
// Wall: a result is copied at the return, through an address for reading
// Outcome: agreement fail
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <c10/core/Allocator.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

static const float* from;
static int count;

struct Lazy : c10::Allocator {
    c10::Allocator* device() const { return c10::GetAllocator(c10::DeviceType::CPU); }
    c10::DataPtr allocate(std::size_t bytes) override { return device()->allocate(bytes); }
    c10::DeleterFnPtr raw_deleter() const override { return device()->raw_deleter(); }
    void copy_data(void* to, const void*, std::size_t) const override {
        twice<<<(count + 63) / 64, 64>>>(from, static_cast<float*>(to), count);
    }
};

static Lazy lazy;

torch::Tensor forward(torch::Tensor x) {
    static torch::Tensor base;
    auto bytes = x.nbytes();
    base = torch::empty({0}, x.options());
    base.set_(c10::Storage(c10::Storage::use_byte_size_t(), bytes, lazy.allocate(bytes), &lazy, false), 0, x.sizes(), {});
    base.fill_(0.5f);
    from = x.data_ptr<float>(), count = x.numel();
    return at::_lazy_clone(base);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
