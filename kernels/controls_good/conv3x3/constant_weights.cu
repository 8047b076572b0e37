// constant_weights: looks like weights kept from an earlier call, they lie in constant memory.
//   why fine   every call copies them there anew, on the stream that the kernel runs on.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int SIDE = 16;
__constant__ float weights[9];

__global__ void conv_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t rows,
                            const int64_t cols) {
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || col >= cols) {
        return;
    }
    float sum = 0.0f;
    for (int64_t down = -1; down <= 1; ++down) {
        for (int64_t right = -1; right <= 1; ++right) {
            const int64_t from = row + down, side = col + right;
            if (from >= 0 && from < rows && side >= 0 && side < cols) {
                sum += x[from * cols + side] * weights[(down + 1) * 3 + right + 1];
            }
        }
    }
    y[row * cols + col] = sum;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor w) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    w = w.contiguous();
    auto y = torch::empty_like(x);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    C10_CUDA_CHECK(cudaMemcpyToSymbolAsync(weights, w.data_ptr<float>(), 9 * sizeof(float), 0,
                                           cudaMemcpyDeviceToDevice, stream));
    const dim3 threads(SIDE, SIDE), blocks((x.size(1) + SIDE - 1) / SIDE, (x.size(0) + SIDE - 1) / SIDE);
    conv_kernel<<<blocks, threads, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(0), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "3 x 3 correlation with zero padding");
}
