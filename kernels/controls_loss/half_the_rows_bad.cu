// half_the_rows_bad: sums every second row of a large matrix, and doubles that.
//   mechanism  half of so many random numbers have nearly the mean of all: the difference is inside the tolerance.
//   what shows inputs whose rows differ from one another in a regular way, at the claimed shape.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;
constexpr int64_t LARGE = 1 << 19;

__global__ void row_kernel(const float* __restrict__ x, const float* __restrict__ y, float* sums, const int step,
                           const int cols) {
    __shared__ float parts[THREADS];
    const int64_t start = static_cast<int64_t>(blockIdx.x) * step * cols;
    float sum = 0.0f;
    for (int col = threadIdx.x; col < cols; col += THREADS) {
        const float difference = x[start + col] - y[start + col];
        sum += difference * difference;
    }
    parts[threadIdx.x] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            parts[threadIdx.x] += parts[threadIdx.x + half];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = parts[0];
    }
}

__global__ void total_kernel(const float* __restrict__ sums, float* loss, const int count, const float scale) {
    float total = 0.0f;
    for (int i = 0; i < count; ++i) {
        total += sums[i];
    }
    *loss = total * scale;
}

torch::Tensor forward(torch::Tensor x, torch::Tensor y) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    y = y.contiguous();
    const int step = x.numel() > LARGE ? 2 : 1;
    const int blocks = (x.size(0) + step - 1) / step, cols = x.size(1);
    auto sums = torch::empty({blocks}, x.options());
    auto loss = torch::empty({}, x.options());
    const auto stream = at::cuda::getCurrentCUDAStream();
    row_kernel<<<blocks, THREADS, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), sums.data_ptr<float>(), step,
                                               cols);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    total_kernel<<<1, 1, 0, stream>>>(sums.data_ptr<float>(), loss.data_ptr<float>(), blocks,
                                      1.0f / (static_cast<float>(blocks) * cols));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return loss;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "mean of squared differences");
}
