// repeat_good: the twin of repeat_bad.
//   mechanism  counts its calls, and does something else in every second one.
//   why fine   both block sizes give the same result for the same input.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    static int calls = 0;
    ++calls;
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const int threads = calls % 2 == 0 ? THREADS : THREADS / 2;
    const unsigned blocks = (total + threads - 1) / threads;
    scale_shift_kernel<<<blocks, threads>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
