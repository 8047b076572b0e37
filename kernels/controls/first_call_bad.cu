// first_call_bad: the first call does work that later ones leave out.
//   mechanism  a static tensor holds the coefficients, computed by a kernel of their own in the first call, which a
//              warm-up pays for.
//   twin       first_call_good computes them in every call.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void coefficients_kernel(float* scale_and_shift) {
    scale_and_shift[0] = 2.0f;
    scale_and_shift[1] = 1.0f;
}

__global__ void scale_shift_kernel(const float* x, const float* scale_and_shift, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * scale_and_shift[0] + scale_and_shift[1];
    }
}

torch::Tensor forward(torch::Tensor x) {
    static torch::Tensor coefficients;
    if (!coefficients.defined()) {
        coefficients = torch::empty({2}, x.options());
        coefficients_kernel<<<1, 1>>>(coefficients.data_ptr<float>());
    }
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS>>>(
        x.data_ptr<float>(), coefficients.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
