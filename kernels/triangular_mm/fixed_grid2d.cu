// fixed_grid2d: the claimed kernel made sound; its body is unchanged, so it shows what the published code is worth.
//   changed    against ablation_grid2d.cu: inputs are checked, the launch goes to the current stream of the inputs'
//              device and is checked for errors; blocks are 32 x 32
//   launch     2-D grid of ceil(N / 32) x ceil(N / 32) blocks of 32 x 32 threads: a warp is one row of the block, so
//              its 32 stores fill one 128-byte line
//   needs      compute capability 7.5
//   the line   `const dim3 blocks(tiles, tiles)`: one thread for every element of C, rows included
//   predicted  none was written down
//   precision  float32 products and sums; relative error about 1e-6 at N = 4096

#include "triangular.cuh"

constexpr int BLOCK = 32;  // threads along each side of a block

__global__ void __launch_bounds__(BLOCK * BLOCK)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N) {
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) {
        return;
    }
    float sum = 0.0f;  // stays zero above the diagonal: there col > row and the loop is empty
    for (int64_t k = col; k <= row; ++k) {
        sum += A[row * N + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);
    if (N == 0) {
        return C;
    }
    const unsigned tiles = (N + BLOCK - 1) / BLOCK;
    const dim3 threads(BLOCK, BLOCK);
    const dim3 blocks(tiles, tiles);
    triangular_mm_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
