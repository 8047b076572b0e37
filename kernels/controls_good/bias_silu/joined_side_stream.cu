// joined_side_stream: looks like work hidden from the timer, half of it runs on a side stream.
//   why fine   the side stream waits for the current one before it reads, and the current one waits for it before
//              forward returns.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <c10/cuda/CUDAStream.h>

constexpr int THREADS = 256;

__global__ void bias_silu_kernel(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                                 const int64_t first, const int64_t end, const int64_t cols) {
    const int64_t index = first + static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < end) {
        const float value = x[index] + bias[index % cols];
        y[index] = value / (1.0f + expf(-value));
    }
}

void launch(const torch::Tensor& x, const torch::Tensor& bias, torch::Tensor& y, const int64_t first,
            const int64_t end, const cudaStream_t stream) {
    if (first == end) {
        return;
    }
    const unsigned blocks = (end - first + THREADS - 1) / THREADS;
    bias_silu_kernel<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(),
                                                     first, end, x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    bias = bias.contiguous();
    auto y = torch::empty_like(x);
    const cudaStream_t current = at::cuda::getCurrentCUDAStream();
    const cudaStream_t side = c10::cuda::getStreamFromPool();
    cudaEvent_t forked, joined;
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
    C10_CUDA_CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    C10_CUDA_CHECK(cudaEventRecord(forked, current));
    C10_CUDA_CHECK(cudaStreamWaitEvent(side, forked, 0));
    launch(x, bias, y, 0, x.numel() / 2, side);
    launch(x, bias, y, x.numel() / 2, x.numel(), current);
    C10_CUDA_CHECK(cudaEventRecord(joined, side));
    C10_CUDA_CHECK(cudaStreamWaitEvent(current, joined, 0));
    C10_CUDA_CHECK(cudaEventDestroy(forked));
    C10_CUDA_CHECK(cudaEventDestroy(joined));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = silu(x + bias)");
}
