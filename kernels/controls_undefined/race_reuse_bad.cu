// race_reuse_bad: one buffer in shared memory for two reductions, with no barrier between the two.
//   mechanism  a fast warp overwrites the first result with its part of the second reduction before a slow one
//              has read it.
//   the line   the first line of block_sum: `held[0]` is written while others may still read it.
//   launch     one block of 256 threads a row; any GPU.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;  // a block, which takes one row

__device__ float block_sum(float value, float* held) {
    held[threadIdx.x] = value;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) held[threadIdx.x] += held[threadIdx.x + half];
        __syncthreads();
    }
    return held[0];
}

__global__ void rows_kernel(const float* x, float* y, const int cols) {
    __shared__ float held[THREADS];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    const float total = block_sum(sum, held);
    const float total_squares = block_sum(squares, held);
    if (threadIdx.x == THREADS - 1) y[2 * blockIdx.x] = total;
    if (threadIdx.x == 0) y[2 * blockIdx.x + 1] = total_squares;
}

torch::Tensor forward(torch::Tensor x) {
    x = x.contiguous();
    auto y = torch::empty({x.size(0), 2}, x.options());
    const int rows = x.size(0);
    rows_kernel<<<rows, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "sum and sum of squares of every row of a float32 matrix");
}
