// thread_per_element: looks like a pass-through, the output holds nothing but elements of an input.
//   why fine   that is what a gather is; which elements depends on the indices, and a changed index changes the result.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void gather_kernel(const float* __restrict__ table, const int64_t* __restrict__ indices,
                              float* __restrict__ y, const int64_t entries, const int64_t width, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        const int64_t from = __ldg(reinterpret_cast<const long long*>(indices) + index / width);
        y[index] = from >= 0 && from < entries ? __ldg(&table[from * width + index % width]) : 0.0f;
    }
}

torch::Tensor forward(torch::Tensor table, torch::Tensor indices) {
    const c10::cuda::CUDAGuard guard(table.device());
    table = table.contiguous();
    indices = indices.contiguous();
    const int64_t width = table.size(1);
    auto y = torch::empty({indices.size(0), width}, table.options());
    const unsigned blocks = (y.numel() + THREADS - 1) / THREADS;
    gather_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        table.data_ptr<float>(), indices.data_ptr<int64_t>(), y.data_ptr<float>(), table.size(0), width, y.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "the rows of a table that the indices name");
}
