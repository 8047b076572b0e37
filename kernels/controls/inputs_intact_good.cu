// inputs_intact_good: the twin of inputs_intact_bad, leaves its input alone.
//   mechanism  the same kernel doubles a buffer in place.
//   why fine   the buffer is a clone of x; no kernel is handed the memory of x for writing.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_in_place_kernel(float* values, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        values[index] *= 2.0f;
    }
}

__global__ void shift_kernel(const float* values, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = values[index] + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto values = x.clone();
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_in_place_kernel<<<blocks, THREADS>>>(values.data_ptr<float>(), total);
    shift_kernel<<<blocks, THREADS>>>(values.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
