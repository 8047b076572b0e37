// float_atomics: looks like a race, many blocks add to one float, in an order that changes from run to run.
//   why fine   atomicAdd loses nothing and the output starts at zero; only the last bits depend on the order.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__global__ void energy_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t cols) {
    const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (col < cols) {
        const float value = x[blockIdx.y * cols + col];
        atomicAdd(&y[blockIdx.y], value * value);
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::zeros({x.size(0)}, x.options());
    const dim3 blocks((x.size(1) + THREADS - 1) / THREADS, x.size(0));
    energy_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                                            x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "sum of squares of every row");
}
