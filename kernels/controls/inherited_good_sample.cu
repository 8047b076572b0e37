// inherited_good_sample: the twin of inherited_bad_sample.
//   mechanism  the output is torch::empty_like, a block of threads reads its first element there and goes on from what
//              the output holds, as the known-bad one.
//   why fine   every element has been written in this call before it is read.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x;
    const int64_t index = first + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f;
    }
    __syncthreads();
    const bool there = y[first] == x[first] * 2.0f;
    __syncthreads();
    if (index < total) {
        y[index] = there ? y[index] + 1.0f : x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
