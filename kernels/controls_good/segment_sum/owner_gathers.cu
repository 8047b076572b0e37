// owner_gathers: looks as if most of the work were for nothing, every block reads all segment numbers.
//   why fine   each block owns one segment and adds its rows in order: no atomics, and the same bits in every run.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void gather_kernel(const float* __restrict__ x, const int64_t* __restrict__ segments,
                              float* __restrict__ y, const int64_t rows, const int64_t width) {
    for (int64_t col = threadIdx.x; col < width; col += blockDim.x) {
        float sum = 0.0f;
        for (int64_t row = 0; row < rows; ++row) {
            if (segments[row] == blockIdx.x) {
                sum += x[row * width + col];
            }
        }
        y[blockIdx.x * width + col] = sum;
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor segments, int64_t count) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    segments = segments.contiguous();
    auto y = torch::empty({count, x.size(1)}, x.options());
    gather_kernel<<<count, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), segments.data_ptr<int64_t>(), y.data_ptr<float>(), x.size(0), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "rows added up by the segment they belong to");
}
