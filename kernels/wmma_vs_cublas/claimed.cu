// claimed: a float32 product on tensor cores, whose inputs are fp16. OUR RECONSTRUCTION of the published mechanism,
// written from its description; not the published text.
//   task       A: M x K, B: K x N, C: M x N, float32, row major, on a GPU
//   changed    nothing yet: the first file of the ladder
//   launch     2-D grid of ceil(N / 128) x ceil(M / 128) blocks of 256 threads (8 warps), 29 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `to[place] = __float2half(value)`: 24 bits of an input go in, 11 bits are multiplied
//   precision  inputs keep 11 bits, relative error about 3e-4; range that of fp16; sums are float32

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

constexpr int TILE = 128;      // side of the tile of C one block computes
constexpr int STEP = 32;       // columns of A and rows of B in a step
constexpr int FRAGMENT = 16;
constexpr int WARP = 32;
constexpr int WARP_ROWS = 64;  // of C, that one warp owns
constexpr int WARP_COLS = 32;
constexpr int DOWN = WARP_ROWS / FRAGMENT;
constexpr int ACROSS = WARP_COLS / FRAGMENT;
constexpr int WARPS_ACROSS = TILE / WARP_COLS;
constexpr int WARPS = TILE / WARP_ROWS * WARPS_ACROSS;
constexpr int THREADS = WARPS * WARP;
constexpr int A_PITCH = STEP + 8;  // halves from row to row: no two of 8 rows share banks
constexpr int B_PITCH = TILE + 8;
constexpr int C_PITCH = FRAGMENT + 4;

// ROWS x COLS of a row-major matrix from (first_row, first_col) on, zero outside, rounded to half.
template <int ROWS, int COLS, int PITCH>
__device__ void stage(half (&to)[ROWS * PITCH], const float* __restrict__ from, const int first_row,
                      const int rows, const int first_col, const int cols) {
    for (int at = threadIdx.x; at < ROWS * COLS; at += THREADS) {
        const int row = first_row + at / COLS;
        const int col = first_col + at % COLS;
        const float value = row < rows && col < cols ? from[static_cast<int64_t>(row) * cols + col] : 0.0f;
        const int place = at / COLS * PITCH + at % COLS;
        to[place] = __float2half(value);
    }
}

using Sums = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float>;
using Left = wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, half, wmma::row_major>;

__global__ void __launch_bounds__(THREADS)
wmma_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int M, const int K,
            const int N) {
    __shared__ __align__(32) half a_tile[TILE * A_PITCH];
    __shared__ __align__(32) half b_tile[STEP * B_PITCH];
    __shared__ __align__(32) float strips[WARPS][FRAGMENT * C_PITCH];
    const int warp = threadIdx.x / WARP;
    const int warp_row = warp / WARPS_ACROSS * WARP_ROWS;
    const int warp_col = warp % WARPS_ACROSS * WARP_COLS;
    const int first_row = blockIdx.y * TILE;
    const int first_col = blockIdx.x * TILE;
    Sums sums[DOWN][ACROSS];
    for (int i = 0; i < DOWN; ++i) {
        for (int j = 0; j < ACROSS; ++j) {
            wmma::fill_fragment(sums[i][j], 0.0f);
        }
    }
    for (int first = 0; first < K; first += STEP) {
        stage<TILE, STEP, A_PITCH>(a_tile, A, first_row, M, first, K);
        stage<STEP, TILE, B_PITCH>(b_tile, B, first, K, first_col, N);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < STEP; k += FRAGMENT) {
            Left left[DOWN];
            Right right[ACROSS];
            for (int i = 0; i < DOWN; ++i) {
                wmma::load_matrix_sync(left[i], a_tile + (warp_row + i * FRAGMENT) * A_PITCH + k, A_PITCH);
            }
            for (int j = 0; j < ACROSS; ++j) {
                wmma::load_matrix_sync(right[j], b_tile + k * B_PITCH + warp_col + j * FRAGMENT, B_PITCH);
            }
            for (int i = 0; i < DOWN; ++i) {
                for (int j = 0; j < ACROSS; ++j) {
                    wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
                }
            }
        }
        __syncthreads();
    }
    // Which thread holds which element of a fragment is not specified: each goes by way of the warp's own strip.
    float* strip = strips[warp];
    for (int i = 0; i < DOWN; ++i) {
        for (int j = 0; j < ACROSS; ++j) {
            wmma::store_matrix_sync(strip, sums[i][j], C_PITCH, wmma::mem_row_major);
            __syncwarp();
            for (int at = threadIdx.x % WARP; at < FRAGMENT * FRAGMENT; at += WARP) {
                const int row = first_row + warp_row + i * FRAGMENT + at / FRAGMENT;
                const int col = first_col + warp_col + j * FRAGMENT + at % FRAGMENT;
                if (row < M && col < N) {
                    C[static_cast<int64_t>(row) * N + col] = strip[at / FRAGMENT * C_PITCH + at % FRAGMENT];
                }
            }
            __syncwarp();
        }
    }
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    TORCH_CHECK(A.is_cuda() && A.device() == B.device(), "A and B must be on one GPU");
    TORCH_CHECK(A.scalar_type() == torch::kFloat32 && B.scalar_type() == torch::kFloat32, "A and B must be float32");
    TORCH_CHECK(A.dim() == 2 && B.dim() == 2 && A.size(1) == B.size(0), "A and B cannot be multiplied");
    const c10::cuda::CUDAGuard guard(A.device());
    A = A.contiguous();
    B = B.contiguous();
    const int M = A.size(0), K = A.size(1), N = B.size(1);
    auto C = torch::empty({M, N}, A.options());
    const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
    wmma_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(A.data_ptr<float>(), B.data_ptr<float>(),
                                                                          C.data_ptr<float>(), M, K, N);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = A * B");
}
