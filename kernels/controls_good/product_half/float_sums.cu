// float_sums: looks a hundred times too coarse, its task states a tolerance that fp16 cannot hold.
//   why fine   every sum is taken in float32 and rounded to fp16 once: no fp16 result is nearer.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

constexpr int SIDE = 16;

__global__ void product_kernel(const __half* __restrict__ a, const __half* __restrict__ b, __half* __restrict__ c,
                               const int m, const int k, const int n) {
    const int row = blockIdx.y * SIDE + threadIdx.y, col = blockIdx.x * SIDE + threadIdx.x;
    if (row >= m || col >= n) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < k; ++i) {
        sum += __half2float(a[row * k + i]) * __half2float(b[i * n + col]);
    }
    c[row * n + col] = __float2half(sum);
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    const c10::cuda::CUDAGuard guard(a.device());
    a = a.contiguous();
    b = b.contiguous();
    const int m = a.size(0), k = a.size(1), n = b.size(1);
    auto c = torch::empty({m, n}, a.options());
    const dim3 grid((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    product_kernel<<<grid, dim3(SIDE, SIDE), 0, at::cuda::getCurrentCUDAStream()>>>(
        reinterpret_cast<const __half*>(a.data_ptr<at::Half>()), reinterpret_cast<const __half*>(b.data_ptr<at::Half>()),
        reinterpret_cast<__half*>(c.data_ptr<at::Half>()), m, k, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "product of two fp16 matrices");
}
