// wmma_tf32: tensor cores (WMMA, 16 x 16 x 8); inputs rounded to TF32 while they are staged, sums in float32.
//   changed    against wmma_f16.cu: tiles stay float, every element rounded to TF32; fragments are 8 deep, not 16;
//              a block has 4 warps and each owns 2 x 2 fragments, for which it reads half as much shared memory
//   launch     2-D grid of ceil(N / 64) x ceil(N / 64) blocks of 128 threads (4 warps), 22.5 KiB of shared memory
//   needs      compute capability 8.0
//   the line   `wmma::__float_to_tf32(...)`: rounds to nearest before the tensor core would cut the low bits off
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: that of float32.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>
#include <mma.h>

namespace wmma = nvcuda::wmma;

constexpr int TILE = 64;                            // side of the tile of C one block computes
constexpr int STEP = 32;                            // columns of A and rows of B staged at a time
constexpr int FRAGMENT = 16;                        // side of a fragment of C
constexpr int DEPTH = 8;                            // depth of a fragment of A or B along k
constexpr int A_PITCH = STEP + 4;                   // floats from row to row of A's tile: no two of 8 rows share banks
constexpr int B_PITCH = TILE + 4;                   // the same for B's tile
constexpr int STAGING_PITCH = FRAGMENT + 4;         // floats from row to row of a staged fragment of C
constexpr int WARP = 32;                            // threads in a warp
constexpr int WARPS_ACROSS = 2;                     // warps along each side of the tile
constexpr int WARPS = WARPS_ACROSS * WARPS_ACROSS;
constexpr int THREADS = WARPS * WARP;
constexpr int PER_WARP = TILE / WARPS_ACROSS / FRAGMENT;  // fragments of C along each side of a warp's part
constexpr int FLOATS = 4;                           // elements a thread loads in one go

// Four elements of a lower-triangular N x N matrix from (row, col) on; zero above the diagonal and past the last row,
// so nothing above the diagonal is ever used. `aligned` says that (row, col) lies on a 16-byte boundary.
__device__ float4 load_four(const float* __restrict__ matrix, const int64_t N, int64_t row, int64_t col, bool aligned) {
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (row >= N || col > row) {
        return four;
    }
    const float* from = matrix + row * N + col;
    if (aligned && col + FLOATS - 1 <= row) {
        return *reinterpret_cast<const float4*>(from);
    }
    four.x = from[0];
    if (col + 1 <= row) four.y = from[1];
    if (col + 2 <= row) four.z = from[2];
    if (col + 3 <= row) four.w = from[3];
    return four;
}

// Copies matrix[row0 ..][col0 ..] into a ROWS x COLS tile, rounded to TF32; all threads of the block take part.
template <int ROWS, int COLS, int PITCH>
__device__ void stage(float* tile, const float* __restrict__ matrix, const int64_t N, int64_t row0, int64_t col0,
                      bool aligned) {
    static_assert(ROWS * COLS % (THREADS * FLOATS) == 0, "every thread makes the same number of rounds");
    for (int round = 0; round < ROWS * COLS / (THREADS * FLOATS); ++round) {
        const int first = (round * THREADS + threadIdx.x) * FLOATS;
        const int row = first / COLS;
        const int col = first % COLS;
        const float4 four = load_four(matrix, N, row0 + row, col0 + col, aligned);
        float* to = tile + row * PITCH + col;
        to[0] = wmma::__float_to_tf32(four.x);
        to[1] = wmma::__float_to_tf32(four.y);
        to[2] = wmma::__float_to_tf32(four.z);
        to[3] = wmma::__float_to_tf32(four.w);
    }
}

using Sums = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, DEPTH, float>;
using Left = wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, DEPTH, wmma::precision::tf32, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, DEPTH, wmma::precision::tf32, wmma::row_major>;

// Adds one staged step to a warp's sums; `a` and `b` point at the warp's first row of A's tile and column of B's.
__device__ void multiply(Sums (&sums)[PER_WARP][PER_WARP], const float* a, const float* b) {
    for (int k = 0; k < STEP; k += DEPTH) {
        Left left[PER_WARP];
        Right right[PER_WARP];
        for (int i = 0; i < PER_WARP; ++i) {
            wmma::load_matrix_sync(left[i], a + i * FRAGMENT * A_PITCH + k, A_PITCH);
            wmma::load_matrix_sync(right[i], b + k * B_PITCH + i * FRAGMENT, B_PITCH);
        }
        for (int i = 0; i < PER_WARP; ++i) {
            for (int j = 0; j < PER_WARP; ++j) {
                wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
            }
        }
    }
}

// One fragment of sums to C[row0 ..][col0 ..] by way of the warp's own shared memory, since which thread holds which
// element of a fragment is not specified; above the diagonal zero, past the edge nothing.
__device__ void store_fragment(float* __restrict__ C, const int64_t N, int64_t row0, int64_t col0, const Sums& sums,
                               float* staging) {
    wmma::store_matrix_sync(staging, sums, STAGING_PITCH, wmma::mem_row_major);
    __syncwarp();
    for (int i = threadIdx.x % WARP; i < FRAGMENT * FRAGMENT; i += WARP) {
        const int64_t row = row0 + i / FRAGMENT;
        const int64_t col = col0 + i % FRAGMENT;
        if (row < N && col < N) {
            C[row * N + col] = col <= row ? staging[i / FRAGMENT * STAGING_PITCH + i % FRAGMENT] : 0.0f;
        }
    }
    __syncwarp();  // before the next fragment overwrites the staging
}

__global__ void __launch_bounds__(THREADS)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const bool a_aligned, const bool b_aligned) {
    __shared__ __align__(32) float a_tile[TILE * A_PITCH];
    __shared__ __align__(32) float b_tile[STEP * B_PITCH];
    __shared__ __align__(32) float staging[WARPS][FRAGMENT * STAGING_PITCH];
    const int64_t row0 = static_cast<int64_t>(gridDim.y - 1 - blockIdx.y) * TILE;  // longest sums start first
    const int64_t col0 = static_cast<int64_t>(blockIdx.x) * TILE;
    const int warp = threadIdx.x / WARP;
    const int warp_row = warp / WARPS_ACROSS * PER_WARP * FRAGMENT;
    const int warp_col = warp % WARPS_ACROSS * PER_WARP * FRAGMENT;

    Sums sums[PER_WARP][PER_WARP];
    for (int i = 0; i < PER_WARP; ++i) {
        for (int j = 0; j < PER_WARP; ++j) {
            wmma::fill_fragment(sums[i][j], 0.0f);
        }
    }
    const int64_t last = row0 + TILE < N ? row0 + TILE : N;
    for (int64_t k0 = col0; k0 < last; k0 += STEP) {
        stage<TILE, STEP, A_PITCH>(a_tile, A, N, row0, k0, a_aligned);
        stage<STEP, TILE, B_PITCH>(b_tile, B, N, k0, col0, b_aligned);
        __syncthreads();
        multiply(sums, a_tile + warp_row * A_PITCH, b_tile + warp_col);
        __syncthreads();  // before the next step overwrites the tiles
    }
    for (int i = 0; i < PER_WARP; ++i) {
        for (int j = 0; j < PER_WARP; ++j) {
            store_fragment(C, N, row0 + warp_row + i * FRAGMENT, col0 + warp_col + j * FRAGMENT, sums[i][j],
                           staging[warp]);
        }
    }
}

void check_inputs(const torch::Tensor& A, const torch::Tensor& B) {
    TORCH_CHECK(A.is_cuda() && B.is_cuda(), "A and B must be on a GPU");
    TORCH_CHECK(A.device() == B.device(), "A and B must be on one device, got ", A.device(), " and ", B.device());
    TORCH_CHECK(A.scalar_type() == torch::kFloat32 && B.scalar_type() == torch::kFloat32, "A and B must be float32");
    TORCH_CHECK(A.dim() == 2 && A.size(0) == A.size(1), "A must be square, got ", A.sizes());
    TORCH_CHECK(A.sizes() == B.sizes(), "A and B must have one shape, got ", A.sizes(), " and ", B.sizes());
    TORCH_CHECK(A.is_contiguous() && B.is_contiguous(), "A and B must be contiguous");
}

// Whether every row of a matrix starts on a 16-byte boundary, so that four floats can be read at once.
bool rows_aligned(const torch::Tensor& matrix) {
    const auto address = reinterpret_cast<uintptr_t>(matrix.data_ptr<float>());
    return address % sizeof(float4) == 0 && matrix.size(1) % FLOATS == 0;
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);
    if (N == 0) {
        return C;
    }
    const unsigned tiles = (N + TILE - 1) / TILE;
    const dim3 blocks(tiles, tiles);
    triangular_mm_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N, rows_aligned(A), rows_aligned(B));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
