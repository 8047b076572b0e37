// constant_fill: how fast this task can be when its algebra is used: nothing is read.
//   changed    against claimed.py: right for every minimum without a second path, since min(y, low) is at most low and
//              clamp raises it to low again; 16-byte stores
//   launch     1-D grid of ceil(elements / 1024) blocks of 256 threads
//   needs      compute capability 7.5
//   the line   `const float value = std::min(low, HIGH)`: the whole task, for inputs that are numbers
//   precision  exact

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <algorithm>

constexpr int THREADS = 256;
constexpr int WIDTH = 4;  // floats in 16 bytes
constexpr int SIDE = 3;   // of the convolution's kernel
constexpr double HIGH = 1.0;

__global__ void fill_kernel(float* __restrict__ y, const int64_t elements, const float value) {
    const int64_t at = (static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x) * WIDTH;
    if (at + WIDTH <= elements) {  // y is fresh memory of the allocator, aligned to 16 bytes and more
        *reinterpret_cast<float4*>(y + at) = make_float4(value, value, value, value);
        return;
    }
    for (int64_t i = at; i < elements; ++i) {
        y[i] = value;
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor weight, torch::Tensor bias, torch::Tensor scale,
                      torch::Tensor shift, double low) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32, "x must be float32 on a GPU");
    TORCH_CHECK(x.dim() == 5 && weight.dim() == 5, "x and weight must have five axes");
    TORCH_CHECK(x.size(2) >= SIDE && x.size(3) >= SIDE && x.size(4) >= SIDE, "x must be 3 wide along every axis");
    const c10::cuda::CUDAGuard guard(x.device());
    auto y = torch::empty({x.size(0), weight.size(0), x.size(2) - SIDE + 1, x.size(3) - SIDE + 1, x.size(4) - SIDE + 1},
                          x.options());
    const float value = std::min(low, HIGH);
    const unsigned blocks = (y.numel() + THREADS * WIDTH - 1) / (THREADS * WIDTH);
    fill_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(y.data_ptr<float>(), y.numel(), value);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "clamp(min(group_norm(conv3d(x)), low), low, 1)");
}
