// fixed_elementwise: the stated work in every call, by a kernel.
//   changed    against ablation_no_cache.py: a CUDA kernel in place of the library's operator
//   launch     1-D grid of ceil(elements / 256) blocks of 256 threads
//   needs      compute capability 7.5
//   the line   `y[at] = x[at] / (1.0f + expf(-x[at]))`
//   precision  float32; relative error about 2e-7

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void silu_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t elements) {
    const int64_t at = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (at < elements) {
        y[at] = x[at] / (1.0f + expf(-x[at]));
    }
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be float32 on a GPU");
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty_like(x);
    const int64_t elements = x.numel();
    if (elements == 0) {
        return y;
    }
    const unsigned blocks = (elements + THREADS - 1) / THREADS;
    silu_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                                          elements);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = x * sigmoid(x)");
}
