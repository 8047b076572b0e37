// warp_volatile_good: the twin of warp_volatile_bad.
//   mechanism  the same steps with __syncwarp() between the reads of a step and its writes, and behind those.
//   the line   `__syncwarp()`, twice in the loop.
//   launch     one block of 64 threads a row; any GPU.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;  // a block, which takes one row

__global__ void rows_kernel(const float* x, float* y, const int cols) {
    __shared__ float sums[2 * 32];
    __shared__ float squared[2 * 32];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    sums[threadIdx.x] = sum;
    squared[threadIdx.x] = squares;
    __syncthreads();
    if (threadIdx.x < 32) {
        float* s = sums;
        float* m = squared;
        for (int lanes = 32; lanes > 0; lanes /= 2) {
            const float other_sum = s[threadIdx.x + lanes], other_squares = m[threadIdx.x + lanes];
            __syncwarp();
            s[threadIdx.x] = s[threadIdx.x] + other_sum;
            m[threadIdx.x] = m[threadIdx.x] + other_squares;
            __syncwarp();
        }
    }
    if (threadIdx.x == 0) {
        y[2 * blockIdx.x] = sums[0];
        y[2 * blockIdx.x + 1] = squared[0];
    }
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
