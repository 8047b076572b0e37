// last_block: looks like blocks that read each other's results unordered, the block that comes last adds up what the
//   others left.
//   why fine   each block writes its sum, passes a fence and then counts itself with an atomic; whoever counts last
//              sees all sums.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int CHUNK = 64;  // elements a block sums

__global__ void energy_kernel(const float* __restrict__ x, float* partial, int* counted, float* __restrict__ y,
                              const int64_t cols) {
    __shared__ float squares[CHUNK];
    const int64_t col = static_cast<int64_t>(blockIdx.x) * CHUNK + threadIdx.x;
    const float value = col < cols ? x[blockIdx.y * cols + col] : 0.0f;
    squares[threadIdx.x] = value * value;
    __syncthreads();
    if (threadIdx.x > 0) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < CHUNK; ++i) {
        sum += squares[i];
    }
    atomicExch(&partial[blockIdx.y * gridDim.x + blockIdx.x], sum);
    __threadfence();
    if (atomicAdd(&counted[blockIdx.y], 1) == static_cast<int>(gridDim.x) - 1) {
        __threadfence();
        float total = 0.0f;
        for (int chunk = 0; chunk < gridDim.x; ++chunk) {
            total += atomicAdd(&partial[blockIdx.y * gridDim.x + chunk], 0.0f);
        }
        y[blockIdx.y] = total;
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    const int64_t rows = x.size(0);
    const int64_t chunks = (x.size(1) + CHUNK - 1) / CHUNK;
    auto partial = torch::empty({rows, chunks}, x.options());
    auto counted = torch::zeros({rows}, x.options().dtype(torch::kInt32));
    auto y = torch::empty({rows}, x.options());
    energy_kernel<<<dim3(chunks, rows), CHUNK, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), partial.data_ptr<float>(), counted.data_ptr<int>(), y.data_ptr<float>(), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "sum of squares of every row");
}
