// one_bin_a_warp: looks wasteful beyond belief, every warp reads all of the input for one bin.
//   why fine   each bin is counted by one warp with ballots and stored once; right needs no atomics.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int BINS = 64;
constexpr int WARP = 32;

__global__ void histogram_kernel(const float* __restrict__ x, int64_t* __restrict__ counts, const int64_t total) {
    int64_t count = 0;
    for (int64_t start = 0; start < total; start += WARP) {
        const int64_t index = start + threadIdx.x;
        const float value = index < total ? x[index] : 0.0f;
        const float place = fminf(fmaxf(floorf(value * BINS), 0.0f), BINS - 1.0f);
        const bool mine = index < total && static_cast<unsigned>(place) == blockIdx.x;
        count += __popc(__ballot_sync(0xffffffff, mine));
    }
    if (threadIdx.x == 0) {
        counts[blockIdx.x] = count;
    }
}

torch::Tensor forward(torch::Tensor x) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto counts = torch::empty({BINS}, x.options().dtype(torch::kInt64));
    histogram_kernel<<<BINS, WARP, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(),
                                                                          counts.data_ptr<int64_t>(), x.numel());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return counts;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "how many values fall into each of 64 bins");
}
