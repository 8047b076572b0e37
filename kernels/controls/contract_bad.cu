// contract_bad: the right numbers in another type than the reference returns.
//   mechanism  returns float64 where the reference returns float32; a comparison that converts both sides first never
//              notices, and every later operation pays for the wider type.
//   twin       contract_good is the same kernel with a float32 output.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, double* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0 + 1.0;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty(x.sizes(), x.options().dtype(torch::kFloat64));
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<double>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
