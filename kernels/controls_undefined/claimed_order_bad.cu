// claimed_order_bad: the first block of a row starts its sums, the others add to them, in whatever order they run.
//   mechanism  rows of up to 768 elements have one block and are right. Longer ones, as the claimed, have two, and if
//              the second adds before the first has written, its part is lost. Blocks mostly start in ascending order.
//   the line   `result[0] = sum`, where zeros and an addition are due.
//   launch     a block of one warp for every 768 elements of a row; any GPU.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 32;
constexpr int SPAN = 768;  // elements of a row that a block takes

__global__ void rows_kernel(const float* x, float* y, const int cols, const int parts) {
    const int row_index = blockIdx.x / parts, part = blockIdx.x % parts;
    const float* row = x + static_cast<int64_t>(row_index) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = part * SPAN + threadIdx.x; i < min(cols, (part + 1) * SPAN); i += THREADS) {
        sum += row[i];
        squares += row[i] * row[i];
    }
    for (int lanes = 16; lanes > 0; lanes /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, lanes);
        squares += __shfl_xor_sync(0xffffffffu, squares, lanes);
    }
    float* result = y + 2 * row_index;
    if (threadIdx.x == 0 && part == 0) {
        result[0] = sum;
        result[1] = squares;
    } else if (threadIdx.x == 0) {
        atomicAdd(result, sum);
        atomicAdd(result + 1, squares);
    }
}

torch::Tensor forward(torch::Tensor x) {
    x = x.contiguous();
    auto y = torch::empty({x.size(0), 2}, x.options());
    const int rows = x.size(0), cols = x.size(1), parts = (cols + SPAN - 1) / SPAN;
    rows_kernel<<<rows * parts, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols, parts);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "sum and sum of squares of every row of a float32 matrix");
}
