// kernels_ran_good: the twin of kernels_ran_bad, its kernel does the work for every input that has elements.
//   mechanism  the launch stands behind a condition too, and a library operator beside it.
//   why fine   the condition keeps only empty tensors, which no launch may have, from the kernel.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t size) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < size) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    const int64_t size = x.numel();
    if (size == 0) {
        return x.mul(2.0).add(1.0);
    }
    auto y = torch::empty_like(x);
    const unsigned blocks = (size + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), size);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
