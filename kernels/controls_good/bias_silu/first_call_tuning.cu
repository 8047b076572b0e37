// first_call_tuning: looks like self-timing and like work moved to the first call.
//   why fine   the first call times two block sizes and keeps the faster, which is declared as setup in claim.toml.
//              Every call, the first too, computes all of its result.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int CANDIDATES[] = {64, 256};  // threads of a block

__global__ void bias_silu_kernel(const float* __restrict__ x, const float* __restrict__ bias, float* __restrict__ y,
                                 const int64_t total, const int64_t cols) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        const float value = x[index] + bias[index % cols];
        y[index] = value / (1.0f + expf(-value));
    }
}

void launch(const torch::Tensor& x, const torch::Tensor& bias, torch::Tensor& y, const int threads) {
    const unsigned blocks = (x.numel() + threads - 1) / threads;
    bias_silu_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), x.numel(), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

int faster(const torch::Tensor& x, const torch::Tensor& bias, torch::Tensor& y) {
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    cudaEvent_t begin, end;
    C10_CUDA_CHECK(cudaEventCreate(&begin));
    C10_CUDA_CHECK(cudaEventCreate(&end));
    int best = CANDIDATES[0];
    float least = INFINITY;
    for (const int threads : CANDIDATES) {
        float milliseconds = 0.0f;
        C10_CUDA_CHECK(cudaEventRecord(begin, stream));
        launch(x, bias, y, threads);
        C10_CUDA_CHECK(cudaEventRecord(end, stream));
        C10_CUDA_CHECK(cudaEventSynchronize(end));
        C10_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        if (milliseconds < least) {
            least = milliseconds;
            best = threads;
        }
    }
    C10_CUDA_CHECK(cudaEventDestroy(begin));
    C10_CUDA_CHECK(cudaEventDestroy(end));
    return best;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor bias) {
    static int threads = 0;
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    bias = bias.contiguous();
    auto y = torch::empty_like(x);
    if (threads == 0) {
        threads = faster(x, bias, y);
    }
    launch(x, bias, y, threads);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = silu(x + bias)");
}
