// tensor_cores_half: looks like a hidden precision downgrade, fp16 tensor cores for float32 matrices.
//   why fine   claim.toml declares it as fp16 with a tolerance of its own; sums stay float32.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <mma.h>

using namespace nvcuda;

constexpr int TILE = 16;  // sides of the fragments, and of the part of y that a warp computes
constexpr int WARP = 32;

__global__ void linear_kernel(const float* __restrict__ x, const float* __restrict__ w, const float* __restrict__ bias,
                              float* __restrict__ y, const int64_t m, const int64_t k, const int64_t n) {
    __shared__ __half xs[TILE * TILE], ws[TILE * TILE];
    __shared__ float sums[TILE * TILE];
    const int64_t row = static_cast<int64_t>(blockIdx.y) * TILE, col = static_cast<int64_t>(blockIdx.x) * TILE;
    wmma::fragment<wmma::matrix_a, TILE, TILE, TILE, __half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, TILE, TILE, TILE, __half, wmma::row_major> b;
    wmma::fragment<wmma::accumulator, TILE, TILE, TILE, float> c;
    wmma::fill_fragment(c, 0.0f);
    for (int64_t start = 0; start < k; start += TILE) {
        for (int i = threadIdx.x; i < TILE * TILE; i += WARP) {
            const int64_t x_row = row + i / TILE, x_col = start + i % TILE;
            const int64_t w_row = start + i / TILE, w_col = col + i % TILE;
            xs[i] = __float2half(x_row < m && x_col < k ? x[x_row * k + x_col] : 0.0f);
            ws[i] = __float2half(w_row < k && w_col < n ? w[w_row * n + w_col] : 0.0f);
        }
        __syncwarp();
        wmma::load_matrix_sync(a, xs, TILE);
        wmma::load_matrix_sync(b, ws, TILE);
        wmma::mma_sync(c, a, b, c);
        __syncwarp();
    }
    wmma::store_matrix_sync(sums, c, TILE, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x; i < TILE * TILE; i += WARP) {
        const int64_t to_row = row + i / TILE, to_col = col + i % TILE;
        if (to_row < m && to_col < n) {
            const float sum = sums[i] + bias[to_col];
            y[to_row * n + to_col] = sum < 0.0f ? 0.0f : sum;
        }
    }
}

torch::Tensor forward(torch::Tensor x, torch::Tensor w, torch::Tensor bias) {
    const c10::cuda::CUDAGuard guard(x.device());
    x = x.contiguous();
    w = w.contiguous();
    bias = bias.contiguous();
    const int64_t m = x.size(0), k = x.size(1), n = w.size(1);
    auto y = torch::empty({m, n}, x.options());
    const dim3 blocks((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    linear_kernel<<<blocks, WARP, 0, at::cuda::getCurrentCUDAStream()>>>(
        x.data_ptr<float>(), w.data_ptr<float>(), bias.data_ptr<float>(), y.data_ptr<float>(), m, k, n);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "relu(x w + bias)");
}
