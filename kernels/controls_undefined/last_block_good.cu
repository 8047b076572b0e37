// last_block_good: the last block of a row adds the parts that the others left, behind a fence and an atomic.
//   mechanism  each block writes its part, calls __threadfence() and counts itself in; the one that counts last
//              reads all.
//   the line   `atomicInc(counts + row_index, PARTS - 1)`.
//   launch     four blocks of one warp a row; any GPU.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 32;  // a block, which takes one row's quarter

constexpr int PARTS = 4;  // blocks that share a row

__global__ void rows_kernel(const float* x, float* y, const int cols, float* parts,
                            unsigned* counts) {
    const int row_index = blockIdx.x / PARTS;
    const float* row = x + static_cast<int64_t>(row_index) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = blockIdx.x % PARTS * THREADS + threadIdx.x; i < cols; i += PARTS * THREADS) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        squares += __shfl_xor_sync(0xffffffffu, squares, lanes);
    }
    if (threadIdx.x != 0) return;
    parts[2 * blockIdx.x] = sum;
    parts[2 * blockIdx.x + 1] = squares;
    __threadfence();
    if (atomicInc(counts + row_index, PARTS - 1) != PARTS - 1) return;
    volatile const float* all = parts + 2 * PARTS * row_index;
    float total = 0.0f, total_squares = 0.0f;
    for (int part = 0; part < PARTS; ++part) {
        total += all[2 * part];
        total_squares += all[2 * part + 1];
    }
    y[2 * row_index] = total;
    y[2 * row_index + 1] = total_squares;
}

torch::Tensor forward(torch::Tensor x) {
    x = x.contiguous();
    auto y = torch::empty({x.size(0), 2}, x.options());
    auto parts = torch::empty({x.size(0), PARTS, 2}, x.options());
    auto counts = torch::zeros({x.size(0)}, x.options().dtype(torch::kInt32));
    const int rows = x.size(0);
    rows_kernel<<<rows * PARTS, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1),
                                           parts.data_ptr<float>(),
                                           reinterpret_cast<unsigned*>(counts.data_ptr<int>()));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "sum and sum of squares of every row of a float32 matrix");
}
