// late_writes_good: the twin of late_writes_bad.
//   mechanism  the kernel is launched by another thread.
//   why fine   the thread is joined, so that everything is launched when the call returns.

#include <torch/extension.h>
#include <cuda_runtime.h>
#include <thread>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    std::thread([x, y] {
        const int64_t total = x.numel();
        const unsigned blocks = (total + THREADS - 1) / THREADS;
        scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    }).join();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
