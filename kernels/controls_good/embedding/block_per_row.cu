// block_per_row: looks like reads of any address, the index comes from the input.
//   why fine   an index outside the table gives a row of zeros, as the reference defines it, and no read.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void gather_kernel(const float* __restrict__ table, const int64_t* __restrict__ indices,
                              float* __restrict__ y, const int64_t entries, const int64_t width) {
    const int64_t from = indices[blockIdx.x];
    const bool known = from >= 0 && from < entries;
    for (int64_t col = threadIdx.x; col < width; col += blockDim.x) {
        y[blockIdx.x * width + col] = known ? table[from * width + col] : 0.0f;
    }
}

torch::Tensor forward(torch::Tensor table, torch::Tensor indices) {
    const c10::cuda::CUDAGuard guard(table.device());
    table = table.contiguous();
    indices = indices.contiguous();
    auto y = torch::empty({indices.size(0), table.size(1)}, table.options());
    gather_kernel<<<indices.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        table.data_ptr<float>(), indices.data_ptr<int64_t>(), y.data_ptr<float>(), table.size(0), table.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "the rows of a table that the indices name");
}
