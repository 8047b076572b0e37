// block_sums_good: the twin of no_cross_term_bad, with all of the formula; its result has shape [1], not [].
//   why fine   one number is one number: the value decides, and it follows every element of both inputs.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128, BLOCKS = 32;

__global__ void loss_kernel(const float* __restrict__ x, const float* __restrict__ y, float* loss, const int64_t total) {
    __shared__ float sums[THREADS];
    float sum = 0.0f;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x; i < total; i += THREADS * BLOCKS) {
        const float difference = x[i] - y[i];
        sum += difference * difference;
    }
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(loss, sums[0] / total);
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor y) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    y = y.contiguous();
    auto loss = torch::zeros({1}, x.options());
    loss_kernel<<<BLOCKS, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(), y.data_ptr<float>(),
                                                                          loss.data_ptr<float>(), x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "mean of squared differences");
}
