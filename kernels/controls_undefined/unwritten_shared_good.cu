// unwritten_shared_good: the twin of unwritten_shared_bad: it reads unwritten shared memory and drops it.
//   mechanism  only threads with an element write their place. Every thread reads its partner's place, and a
//              condition on the partner decides whether what it read counts: the result is the same whatever
//              was there.
//   the line   `partner < filled ? held : ...`.
//   launch     one block of 512 threads a row; any GPU.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 512;  // a block, which takes one row

__global__ void rows_kernel(const float* x, float* y, const int cols) {
    __shared__ float sums[THREADS];
    __shared__ float squared[THREADS];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += THREADS) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    const int filled = min(cols, THREADS);
    if (threadIdx.x < filled) {
        sums[threadIdx.x] = sum;
        squared[threadIdx.x] = squares;
    }
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        const int partner = threadIdx.x + half;
        if (threadIdx.x < half) {
            const float other_sum = sums[partner], other_squares = squared[partner];
            if (threadIdx.x < filled) {
                sums[threadIdx.x] += partner < filled ? other_sum : 0.0f;
                squared[threadIdx.x] += partner < filled ? other_squares : 0.0f;
            }
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
