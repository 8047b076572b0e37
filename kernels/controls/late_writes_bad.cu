// late_writes_bad: returns before the work is done.
//   mechanism  a detached thread waits a little, then launches the kernel; a timer around the call, or events on the
//              current stream, see none of it.
//   twin       late_writes_good launches from a thread too and joins it before it returns.

#include <torch/extension.h>
#include <cuda_runtime.h>
#include <chrono>
#include <thread>

constexpr int THREADS = 256;
constexpr auto DELAY = std::chrono::milliseconds(20);

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    std::thread([x, y] {
        std::this_thread::sleep_for(DELAY);
        const int64_t total = x.numel();
        const unsigned blocks = (total + THREADS - 1) / THREADS;
        scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    }).detach();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
