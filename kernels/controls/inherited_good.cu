// inherited_good: the twin of inherited_bad, returns nothing it did not write.
//   mechanism  the output and a scratch buffer both come from torch::empty_like and may be freed blocks with a right
//              result in them, as the known-bad one's.
//   why fine   the first kernel writes all of the scratch buffer, the second reads it and writes all of the output.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_kernel(const float* x, float* doubled, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        doubled[index] = x[index] * 2.0f;
    }
}

__global__ void shift_kernel(const float* doubled, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = doubled[index] + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto doubled = torch::empty_like(x);
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), doubled.data_ptr<float>(), total);
    shift_kernel<<<blocks, THREADS>>>(doubled.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
