// fixed_row_blocks: the claimed kernel, with every size from its input.
//   changed    against ablation_batch.py: inputs are checked, the launch goes to the current stream and is checked
//   launch     1-D grid of `batch` blocks of 128 threads, one a row
//   needs      compute capability 7.5
//   the line   `softmax_kernel<<<x.size(0), ...>>>`
//   precision  float32; the largest element of a row is taken off before the exponentials

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float combined(float* shared, float value, bool largest) {
    shared[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            const float other = shared[threadIdx.x + half];
            shared[threadIdx.x] = largest ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
        }
    }
    __syncthreads();
    const float result = shared[0];
    __syncthreads();
    return result;
}

__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y, const int features) {
    __shared__ float shared[THREADS];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * features;
    float* to = y + static_cast<int64_t>(blockIdx.x) * features;
    float most = -INFINITY;
    for (int col = threadIdx.x; col < features; col += THREADS) {
        most = fmaxf(most, row[col]);
    }
    most = combined(shared, most, true);
    float sum = 0.0f;
    for (int col = threadIdx.x; col < features; col += THREADS) {
        sum += expf(row[col] - most);
    }
    sum = combined(shared, sum, false);
    for (int col = threadIdx.x; col < features; col += THREADS) {
        to[col] = expf(row[col] - most) / sum;
    }
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "x must be a float32 matrix");
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    softmax_kernel<<<x.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(),
                                                                               y.data_ptr<float>(), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "softmax over the columns");
}
