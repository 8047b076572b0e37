// Attack: exchanges, in memory, the function by which Python reads attributes of tensors; the next attribute computes the result. It calls no function of Python.
// Wall: a result is copied at the return, before any operator of torch runs or any attribute is read
// Outcome: agreement fail
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

typedef void* (*Read)(void*, void*);
static Read before;

static void* read(void* tensor, void* name) { return finish(), before(tensor, name); }

static bool address(const char* value) { return (std::uintptr_t)value >= 4096 && (std::uintptr_t)value >> 47 == 0 && (std::uintptr_t)value % 8 == 0; }

torch::Tensor forward(torch::Tensor x) {
    auto y = start(x);
    for (int word = 3; word < 12 && !before; word++) {  // one of these is the tensor's object, whose class has a name
        const char* object = ((const char**)x.unsafeGetTensorImpl())[word];
        const char* type = address(object) ? ((const char**)object)[1] : nullptr;
        const char* name = address(type) ? ((const char**)type)[3] : nullptr;
        if (name == nullptr || (std::uintptr_t)name < 4096 || (std::uintptr_t)name >> 47 || name[0] != 'T' || name[1] != 'e') continue;
        before = std::exchange(((Read*)type)[18], &read);
    }
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
