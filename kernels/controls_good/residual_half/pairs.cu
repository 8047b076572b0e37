// pairs: looks as if every second element were skipped, half as many threads as elements.
//   why fine   a thread takes two neighbours as one __half2, the last thread the odd one, and an odd address goes one
//              by one.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

constexpr int THREADS = 128;

__global__ void residual_kernel(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ y,
                                const float scale, const int64_t total, const bool aligned) {
    const int64_t first = 2 * (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
    if (aligned && first + 1 < total) {
        const float2 left = __half22float2(*reinterpret_cast<const __half2*>(a + first));
        const float2 right = __half22float2(*reinterpret_cast<const __half2*>(b + first));
        *reinterpret_cast<__half2*>(y + first) =
            __floats2half2_rn(left.x + scale * right.x, left.y + scale * right.y);
        return;
    }
    for (int64_t index = first; index < total && index < first + 2; ++index) {
        y[index] = __float2half(__half2float(a[index]) + scale * __half2float(b[index]));
    }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b, double scale) {
    const c10::cuda::CUDAGuard guard(a.device());
    a = a.contiguous();
    b = b.contiguous();
    auto y = torch::empty_like(a);
    const auto* left = reinterpret_cast<const __half*>(a.data_ptr<at::Half>());
    const auto* right = reinterpret_cast<const __half*>(b.data_ptr<at::Half>());
    const bool aligned = reinterpret_cast<uintptr_t>(left) % 4 == 0 && reinterpret_cast<uintptr_t>(right) % 4 == 0;
    const unsigned blocks = (a.numel() + 2 * THREADS - 1) / (2 * THREADS);
    residual_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        left, right, reinterpret_cast<__half*>(y.data_ptr<at::Half>()), static_cast<float>(scale), a.numel(), aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "a + scale b in fp16");
}
