// race_shared_bad: a tree over shared memory without a barrier between its steps.
//   mechanism  thread 0 adds what thread `half` holds while that thread may not have added its own part yet.
//              The last steps stay within one warp, which mostly runs in step; the first ones do not.
//   the line   the addition in the loop: `__syncthreads()` is missing below it.
//   launch     one block of 256 threads a row; any GPU.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;  // a block, which takes one row

__global__ void rows_kernel(const float* x, float* y, const int cols) {
    __shared__ float sums[THREADS];
    __shared__ float squared[THREADS];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    sums[threadIdx.x] = sum;
    squared[threadIdx.x] = squares;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squared[threadIdx.x] += squared[threadIdx.x + half];
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
