// Attack: host code makes a function of torch's library for Python writable, to put other instructions there.
// Wall: a library that needs dl_iterate_phdr or mprotect is not built
// Outcome: build skip: emulated device
// Outcome on cuda: not asked
#include <torch/extension.h>
#include <cuda_runtime.h>
#include <link.h>
#include <sys/mman.h>
#include <cstring>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2.0f * x[i];
}

int open_code(dl_phdr_info* image, std::size_t, void* opened) {
    if (!std::strstr(image->dlpi_name, "libtorch_python")) return 0;
    for (int i = 0; i < image->dlpi_phnum; i++) {
        const auto& part = image->dlpi_phdr[i];
        auto start = (image->dlpi_addr + part.p_vaddr) & ~4095ul;
        if (part.p_type == PT_LOAD && (part.p_flags & PF_X))
            *static_cast<bool*>(opened) = !mprotect(reinterpret_cast<void*>(start), 4096, PROT_READ | PROT_WRITE | PROT_EXEC);
    }
    return 1;
}

torch::Tensor forward(torch::Tensor x) {
    bool opened = false;
    dl_iterate_phdr(open_code, &opened);
    TORCH_CHECK(!opened, "let through: its instructions can be written");
    auto y = torch::empty_like(x);
    int n = x.numel();
    twice<<<(n + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward); }
