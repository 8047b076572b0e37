// launch_per_pair: looks like launches that overwrite each other, the host loop launches one kernel again and again.
//   why fine   every launch gets pointers to a pair of its own and to its own part of the output.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int SIDE = 8;

__global__ void matmul_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                              const int64_t m, const int64_t k, const int64_t n) {
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float sum = 0.0f;
        for (int64_t i = 0; i < k; ++i) {
            sum += a[row * k + i] * b[i * n + col];
        }
        c[row * n + col] = sum;
    }
}

torch::Tensor forward(torch::Tensor a, torch::Tensor b) {
    const c10::cuda::CUDAGuard guard(a.device());
    a = a.contiguous();
    b = b.contiguous();
    const int64_t m = a.size(1), k = a.size(2), n = b.size(2);
    auto c = torch::empty({a.size(0), m, n}, a.options());
    const dim3 threads(SIDE, SIDE), blocks((n + SIDE - 1) / SIDE, (m + SIDE - 1) / SIDE);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    for (int64_t pair = 0; pair < a.size(0); ++pair) {
        matmul_kernel<<<blocks, threads, 0, stream>>>(a.data_ptr<float>() + pair * m * k,
                                                      b.data_ptr<float>() + pair * k * n,
                                                      c.data_ptr<float>() + pair * m * n, m, k, n);
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    }
    return c;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "the product of every pair of matrices");
}
