// four_at_once: looks like writes past the end, a thread stores four truth values as one word.
//   why fine   the word is used only where four elements are left; the last thread stores its bytes one by one.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void mask_kernel(const float* __restrict__ x, unsigned char* __restrict__ y, const float limit,
                            const int64_t total) {
    const int64_t first = 4 * (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x);
    if (first + 4 <= total) {
        const uchar4 four = make_uchar4(x[first] > limit, x[first + 1] > limit, x[first + 2] > limit,
                                        x[first + 3] > limit);
        *reinterpret_cast<uchar4*>(y + first) = four;
        return;
    }
    for (int64_t index = first; index < total; ++index) {
        y[index] = x[index] > limit;
    }
}

torch::Tensor forward(torch::Tensor x, double limit) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty(x.sizes(), x.options().dtype(torch::kBool));
    const unsigned blocks = (x.numel() + 4 * THREADS - 1) / (4 * THREADS);
    mask_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), reinterpret_cast<unsigned char*>(y.data_ptr<bool>()), static_cast<float>(limit),
        x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "which elements exceed a limit");
}
