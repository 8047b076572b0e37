// threads_good: the twin of threads_bad.
//   mechanism  starts a thread in every call.
//   why fine   the thread has ended before the call returns.

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
    int64_t total = 0;
    std::thread([&] { total = x.numel(); }).join();
    auto y = torch::empty_like(x);
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
