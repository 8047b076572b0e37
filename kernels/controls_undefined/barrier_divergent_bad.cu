// barrier_divergent_bad: the two halves of a block wait at different barriers.
//   mechanism  both branches hold a __syncthreads(), and half of every block takes each. A GPU counts arrivals
//              and mostly lets both pass; the CUDA guide allows a barrier in a condition only where the whole
//              block agrees on it.
//   the line   `__syncthreads()` in either branch.
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
    if (threadIdx.x < THREADS / 2) {
        sums[threadIdx.x] = sum;
        squared[threadIdx.x] = squares;
        __syncthreads();
    } else {
        sums[threadIdx.x] = sum;
        squared[threadIdx.x] = squares;
        __syncthreads();
    }
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
            squared[threadIdx.x] += squared[threadIdx.x + half];
        }
        __syncthreads();
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
