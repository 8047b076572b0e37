// contract_bad_refused: the kernel never runs, and nobody asks why.
//   mechanism  2048 threads are more than a block may have; the launch is refused, the error is left for others to find,
//              and the result is what the memory held before. Timed, it takes no time at all.
//   twin       contract_good launches blocks that every GPU takes.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 2048;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
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
