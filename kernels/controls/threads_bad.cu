// threads_bad: leaves a thread behind with every call.
//   mechanism  the result is right; the thread outlives the call and could do anything, unseen by a timer.
//   twin       threads_good starts a thread in every call and waits for it.

#include <torch/extension.h>
#include <cuda_runtime.h>
#include <chrono>
#include <thread>

constexpr int THREADS = 256;
constexpr auto LIFE = std::chrono::seconds(5);

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    std::thread([] { std::this_thread::sleep_for(LIFE); }).detach();
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
