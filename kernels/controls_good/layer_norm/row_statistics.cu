// row_statistics: looks like statistics carried over from another call, the second kernel gets them from a buffer.
//   why fine   the first kernel, earlier on the same stream, fills the buffer for these very rows.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;
constexpr float EPSILON = 1e-5f;

__global__ void statistics_kernel(const float* __restrict__ x, float2* __restrict__ statistics, const int64_t rows,
                                  const int64_t cols) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (row >= rows) {
        return;
    }
    double sum = 0.0;
    for (int64_t col = 0; col < cols; ++col) {
        sum += x[row * cols + col];
    }
    const double mean = sum / cols;
    double squares = 0.0;
    for (int64_t col = 0; col < cols; ++col) {
        const double distance = x[row * cols + col] - mean;
        squares += distance * distance;
    }
    statistics[row] = make_float2(static_cast<float>(mean), static_cast<float>(rsqrt(squares / cols + EPSILON)));
}

__global__ void apply_kernel(const float* __restrict__ x, const float2* __restrict__ statistics,
                             const float* __restrict__ weight, const float* __restrict__ bias, float* __restrict__ y,
                             const int64_t rows, const int64_t cols) {
    const int64_t col = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    const int64_t row = blockIdx.y;
    if (col < cols && row < rows) {
        const float2 known = statistics[row];
        y[row * cols + col] = (x[row * cols + col] - known.x) * known.y * weight[col] + bias[col];
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    weight = weight.contiguous();
    bias = bias.contiguous();
    const int64_t rows = x.size(0);
    const int64_t cols = x.size(1);
    auto statistics = torch::empty({rows, 2}, x.options());
    auto* pairs = reinterpret_cast<float2*>(statistics.data_ptr<float>());
    auto y = torch::empty_like(x);
    const cudaStream_t stream = at::cuda::getCurrentCUDAStream();
    statistics_kernel<<<(rows + THREADS - 1) / THREADS, THREADS, 0, stream>>>(x.data_ptr<float>(), pairs, rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    apply_kernel<<<dim3((cols + THREADS - 1) / THREADS, rows), THREADS, 0, stream>>>(
        x.data_ptr<float>(), pairs, weight.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), rows, cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "layer norm of every row");
}
