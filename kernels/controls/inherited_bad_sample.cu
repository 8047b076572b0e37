// inherited_bad_sample: computes nothing where its memory seems to hold the result already.
//   mechanism  the output is torch::empty_like, which often hands out the block of the last result; a block of threads
//              looks at its first element there, and if that is right takes the others for right as well.
//   twin       inherited_good_sample reads its output before it ends too, and has written it before that.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * blockDim.x;
    const int64_t index = first + threadIdx.x;
    const bool there = y[first] == x[first] * 2.0f + 1.0f;
    __syncthreads();
    if (!there && index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
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
