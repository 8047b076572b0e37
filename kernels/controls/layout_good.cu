// layout_good: the twin of layout_bad.
//   mechanism  the same kernel on the same kind of pointer.
//   why fine   contiguous() copies a view whose rows do not follow each other, and costs nothing otherwise.

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
    auto rows = x.contiguous();
    auto y = torch::empty(x.sizes(), x.options());
    const int64_t total = rows.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(rows.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
