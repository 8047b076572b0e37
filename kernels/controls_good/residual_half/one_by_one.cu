// one_by_one: looks like a conversion nobody asked for, fp16 numbers become float32 and fp16 again.
//   why fine   the inputs and the result are fp16 by contract; float32 between them only loses less.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>

constexpr int THREADS = 256;

__global__ void residual_kernel(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ y,
                                const float scale, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = __float2half(fmaf(scale, __half2float(b[index]), __half2float(a[index])));
    }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b, double scale) {
    const c10::cuda::CUDAGuard guard(a.device());
    a = a.contiguous();
    b = b.contiguous();
    auto y = torch::empty_like(a);
    const unsigned blocks = (a.numel() + THREADS - 1) / THREADS;
    residual_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        reinterpret_cast<const __half*>(a.data_ptr<at::Half>()),
        reinterpret_cast<const __half*>(b.data_ptr<at::Half>()), reinterpret_cast<__half*>(y.data_ptr<at::Half>()),
        static_cast<float>(scale), a.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "a + scale b in fp16");
}
