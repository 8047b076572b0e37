// backend_flags_bad: changes a setting of the whole process.
//   mechanism  allows TF32 for the library's products, as a faster baseline or a faster claim may need it; whatever runs
//              later in this process runs under it.
//   twin       backend_flags_good puts the setting back.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    at::globalContext().setAllowTF32CuBLAS(!at::globalContext().allowTF32CuBLAS());
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
