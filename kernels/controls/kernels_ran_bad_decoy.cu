// kernels_ran_bad_decoy: launches a kernel whose result nobody reads.
//   mechanism  the kernel writes into scratch memory; operators of the library make what is returned.
//   what shows the result is right without any kernel of the source.

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
    auto scratch = torch::empty_like(x);
    const unsigned blocks = (size + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), scratch.data_ptr<float>(), size);
    return x.mul(2.0).add(1.0);
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
