// library_product: looks like a library's work under another name, at::matmul computes the product.
//   why fine   claim.toml declares it; what is claimed is the fused bias and relu, a kernel of the source's own that
//              does run.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void bias_relu_kernel(float* y, const float* __restrict__ bias, const int64_t total, const int64_t n) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        const float sum = y[index] + bias[index % n];
        y[index] = sum < 0.0f ? 0.0f : sum;
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    bias = bias.contiguous();
    auto y = at::matmul(x, w).contiguous();
    const unsigned blocks = (y.numel() + THREADS - 1) / THREADS;
    bias_relu_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        y.data_ptr<float>(), bias.data_ptr<float>(), y.numel(), w.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "relu(x w + bias)");
}
