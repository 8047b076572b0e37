// row_in_registers: each element is read once and written once.
//   changed    against fixed_row_blocks.cu: a thread keeps its up to 16 elements in registers between the passes, where
//              a row has at most 4096; maxima and sums go through warp shuffles instead of a tree in shared memory
//   launch     1-D grid of `batch` blocks of 256 threads, one a row
//   needs      compute capability 7.5
//   the line   `kept[i] = expf(kept[i] - most)`: no second and third read of the row
//   precision  float32; the largest element of a row is taken off before the exponentials

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;
constexpr int WARP = 32;
constexpr int WARPS = THREADS / WARP;
constexpr int KEPT = 16;  // elements a thread keeps
constexpr unsigned ALL = 0xffffffffu;

__device__ float larger(float a, float b) { return fmaxf(a, b); }
__device__ float added(float a, float b) { return a + b; }

// A value of each thread combined over the block; every thread gets the result.
template <float (*combine)(float, float)>
__device__ float over_block(float value, float* shared) {
    for (int apart = WARP / 2; apart > 0; apart /= 2) {
        value = combine(value, __shfl_xor_sync(ALL, value, apart));
    }
    if (threadIdx.x % WARP == 0) {
        shared[threadIdx.x / WARP] = value;
    }
    __syncthreads();
    value = shared[0];
    for (int warp = 1; warp < WARPS; ++warp) {
        value = combine(value, shared[warp]);
    }
    __syncthreads();  // before the next call overwrites it
    return value;
}

// A row of any length; a thread's element i is `threadIdx.x + i * THREADS`, the first KEPT of them stay in registers.
__global__ void __launch_bounds__(THREADS)
softmax_kernel(const float* __restrict__ x, float* __restrict__ y, const int features) {
    __shared__ float shared[WARPS];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * features;
    float* to = y + static_cast<int64_t>(blockIdx.x) * features;
    const int rest = threadIdx.x + KEPT * THREADS;
    float kept[KEPT];
    float most = -INFINITY;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        const int col = threadIdx.x + i * THREADS;
        kept[i] = col < features ? row[col] : -INFINITY;
        most = fmaxf(most, kept[i]);
    }
    for (int col = rest; col < features; col += THREADS) {
        most = fmaxf(most, row[col]);
    }
    most = over_block<larger>(most, shared);
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        kept[i] = expf(kept[i] - most);  // zero where the row has no such element
        sum += kept[i];
    }
    for (int col = rest; col < features; col += THREADS) {
        sum += expf(row[col] - most);
    }
    const float share = 1.0f / over_block<added>(sum, shared);
#pragma unroll
    for (int i = 0; i < KEPT; ++i) {
        const int col = threadIdx.x + i * THREADS;
        if (col < features) {
            to[col] = kept[i] * share;
        }
    }
    for (int col = rest; col < features; col += THREADS) {
        to[col] = expf(row[col] - most) * share;
    }
}

torch::Tensor forward(torch::Tensor x) {
    TORCH_CHECK(x.is_cuda() && x.scalar_type() == torch::kFloat32 && x.dim() == 2, "x must be a float32 matrix");
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    auto y = torch::empty_like(x);
    if (x.numel() == 0) {
        return y;
    }
    softmax_kernel<<<x.size(0), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(x.data_ptr<float>(),
                                                                               y.data_ptr<float>(), x.size(1));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "softmax over the columns");
}
