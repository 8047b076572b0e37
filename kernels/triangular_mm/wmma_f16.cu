// wmma_f16: tensor cores (WMMA, 16 x 16 x 16); a first launch rounds the inputs to half, sums in float32.
//   changed    against register_blocked.cu: tensor cores instead of multiply-adds. A launch of its own writes the lower
//              triangles as half, padded to whole tiles, so the second reads half the bytes, needs no check at any edge
//              and copies asynchronously, two steps ahead of the one it multiplies; a block computes 128 x 128 of C
//   launch     prepare: (T(T + 1) / 2, 2) blocks of 256 threads for T = ceil(N / 128); multiply: 1-D grid of
//              T(T + 1) / 2 blocks of 256 threads (8 warps), 105 KiB of shared memory, 56 KiB where that is too much
//   needs      compute capability 7.5 (below 8.0 the copies are ordinary reads and writes)
//   the line   `__pipeline_memcpy_async(...)`: global to shared memory without a register or a waiting thread
//   predicted  0.11 ms on an H100: 0.035 for the rounding, 0.07 for the product
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: |x| <= 65504 for every element (a larger one
//              becomes infinite); below 6.1e-5 bits are lost, below 3e-8 an element becomes zero. Sums are float32.

#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>
#include "triangular.cuh"

namespace wmma = nvcuda::wmma;

constexpr int TILE = 128;                           // side of the tile of C one block computes
constexpr int STAGES = 3;                           // steps in shared memory: one is multiplied, the next two arrive
constexpr int DEEP_STEP = 64;                       // columns of A and rows of B in a step
constexpr int FLAT_STEP = 32;                       // the same where a block may not have enough shared memory
constexpr int BLOCKS_PER_SM = 2;
constexpr int FRAGMENT = 16;                        // side of a fragment, and its depth along k
constexpr int WARP_ROWS = 64;                       // of C, that one warp owns
constexpr int WARP_COLS = 32;
constexpr int DOWN = WARP_ROWS / FRAGMENT;          // fragments of C in a warp's part
constexpr int ACROSS = WARP_COLS / FRAGMENT;
constexpr int WARPS_ACROSS = TILE / WARP_COLS;
constexpr int WARPS = TILE / WARP_ROWS * WARPS_ACROSS;
constexpr int THREADS = WARPS * WARP;
constexpr int B_PITCH = TILE + 8;                   // halves from row to row of B's tile: no two of 8 rows share banks
constexpr int C_PITCH = WARP_COLS + 4;              // floats from row to row of a strip of C
constexpr int HALVES = 8;                           // elements copied in one go
constexpr int AHEAD = 8;                            // reads that a thread has under way while preparing

template <int BK>
struct Stage {
    static constexpr int A_PITCH = BK + 8;  // as B_PITCH, for A's tile
    half a[TILE * A_PITCH];
    half b[BK * B_PITCH];
};

struct __align__(8) FourHalves {
    half2 low;
    half2 high;
};

// Writes one tile of A, or of B where blockIdx.y is 1, as half: zero above the diagonal and past the last row, so
// nothing above the diagonal is ever used. `prepared` holds two matrices whose side is a whole number of tiles.
__global__ void __launch_bounds__(THREADS)
prepare_kernel(const float* __restrict__ A, const float* __restrict__ B, half* __restrict__ prepared, const int64_t N,
               const int tiles, const bool aligned) {
    const Corner corner = corner_of<TILE, TILE>(blockIdx.x, tiles);
    const float* matrix = blockIdx.y == 0 ? A : B;
    const int64_t side = static_cast<int64_t>(tiles) * TILE;
    half* to = prepared + blockIdx.y * side * side;
    const int64_t first_row = corner.row + threadIdx.x / (TILE / FLOATS);
    const int64_t col = corner.col + threadIdx.x % (TILE / FLOATS) * FLOATS;
    constexpr int APART = THREADS / (TILE / FLOATS);  // rows from read to read
    for (int row = 0; row < TILE; row += APART * AHEAD) {
        float4 ahead[AHEAD];
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64_t at = first_row + row + i * APART;
            ahead[i] = load_four(matrix + at * N + col, at < N ? at - col + 1 : 0, aligned);
        }
#pragma unroll
        for (int i = 0; i < AHEAD; ++i) {
            const int64_t at = first_row + row + i * APART;
            *reinterpret_cast<FourHalves*>(to + at * side + col) = {__floats2half2_rn(ahead[i].x, ahead[i].y),
                                                                    __floats2half2_rn(ahead[i].z, ahead[i].w)};
        }
    }
}

// Starts to copy a ROWS x COLS tile out of a prepared matrix.
template <int ROWS, int COLS, int PITCH>
__device__ void copy(half* to, const half* from, const int64_t side) {
    constexpr int APART = THREADS * HALVES / COLS;  // rows from copy to copy
    const int row = threadIdx.x * HALVES / COLS;
    const int col = threadIdx.x * HALVES % COLS;
#pragma unroll
    for (int i = 0; i < ROWS; i += APART) {
        __pipeline_memcpy_async(to + (row + i) * PITCH + col, from + (row + i) * side + col, HALVES * sizeof(half));
    }
}

using Sums = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float>;
using Left = wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, half, wmma::row_major>;

// Adds a staged step to a warp's sums: rows from `row` of A's tile, columns from `col` of B's.
template <int BK>
__device__ void multiply(Sums (&sums)[DOWN][ACROSS], const Stage<BK>& from, int row, int col) {
    constexpr int A_PITCH = Stage<BK>::A_PITCH;
#pragma unroll
    for (int k = 0; k < BK; k += FRAGMENT) {
        Left left[DOWN];
        Right right[ACROSS];
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
            wmma::load_matrix_sync(right[j], from.b + k * B_PITCH + col + j * FRAGMENT, B_PITCH);
        }
#pragma unroll
        for (int i = 0; i < DOWN; ++i) {
            wmma::load_matrix_sync(left[i], from.a + (row + i * FRAGMENT) * A_PITCH + k, A_PITCH);
        }
#pragma unroll
        for (int i = 0; i < DOWN; ++i) {
#pragma unroll
            for (int j = 0; j < ACROSS; ++j) {
                wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
            }
        }
    }
}

// A warp's sums to C from (row, col) on, by way of the warp's own strip of shared memory, since which thread holds
// which element of a fragment is not specified.
__device__ void store(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, Sums (&sums)[DOWN][ACROSS],
                      float* strip, bool aligned) {
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
            wmma::store_matrix_sync(strip + j * FRAGMENT, sums[i][j], C_PITCH, wmma::mem_row_major);
        }
        __syncwarp();
        for (int quad = threadIdx.x % WARP; quad < FRAGMENT * WARP_COLS / FLOATS; quad += WARP) {
            const int down = quad / (WARP_COLS / FLOATS);
            const int across = quad % (WARP_COLS / FLOATS) * FLOATS;
            const float4 four = *reinterpret_cast<const float4*>(strip + down * C_PITCH + across);
            store_four(C, N, row + i * FRAGMENT + down, col + across, four, aligned);
        }
        __syncwarp();  // before the next fragments overwrite the strip
    }
}

template <int BK>
__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
multiply_kernel(const half* __restrict__ prepared, float* __restrict__ C, const int64_t N, const int tiles,
                const bool aligned) {
    extern __shared__ __align__(128) unsigned char memory[];
    Stage<BK>* stages = reinterpret_cast<Stage<BK>*>(memory);
    const Corner corner = corner_of<TILE, TILE>(blockIdx.x, tiles);
    const int64_t side = static_cast<int64_t>(tiles) * TILE;
    const int warp = threadIdx.x / WARP;
    const int warp_row = warp / WARPS_ACROSS * WARP_ROWS;
    const int warp_col = warp % WARPS_ACROSS * WARP_COLS;
    const half* a_next = prepared + corner.row * side + corner.col;
    const half* b_next = prepared + side * side + corner.col * side + corner.col;
    const int steps = static_cast<int>(corner.row - corner.col + TILE) / BK;
    const auto fetch = [&](int step) {
        if (step < steps) {
            copy<TILE, BK, Stage<BK>::A_PITCH>(stages[step % STAGES].a, a_next, side);
            copy<BK, TILE, B_PITCH>(stages[step % STAGES].b, b_next, side);
            a_next += BK;
            b_next += BK * side;
        }
        __pipeline_commit();  // empty at the end, so that the count below stays right
    };
    for (int step = 0; step < STAGES - 1; ++step) {
        fetch(step);
    }
    Sums sums[DOWN][ACROSS];
    for (int i = 0; i < DOWN; ++i) {
        for (int j = 0; j < ACROSS; ++j) {
            wmma::fill_fragment(sums[i][j], 0.0f);
        }
    }
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // this step is there for all, and all are done with the one before
        fetch(step + STAGES - 1);
        multiply(sums, stages[step % STAGES], warp_row, warp_col);
    }
    __syncthreads();  // before the strips overwrite the last step
    // Here and not first, when all blocks wait for their reads.
    zero_mirror_image<TILE, TILE, THREADS>(C, N, corner, aligned);
    float* strip = reinterpret_cast<float*>(memory) + warp * FRAGMENT * C_PITCH;
    store(C, N, corner.row + warp_row, corner.col + warp_col, sums, strip, aligned);
}

// Launches the second kernel.
template <int BK>
void multiply_prepared(const half* prepared, torch::Tensor& C, int tiles, bool aligned) {
    constexpr int SHARED = STAGES * sizeof(Stage<BK>);
    C10_CUDA_CHECK(cudaFuncSetAttribute(multiply_kernel<BK>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    const unsigned blocks = tiles * (tiles + 1) / 2;
    multiply_kernel<BK><<<blocks, THREADS, SHARED, at::cuda::getCurrentCUDAStream()>>>(
        prepared, C.data_ptr<float>(), C.size(0), tiles, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);
    if (N == 0) {
        return C;
    }
    const int tiles = (N + TILE - 1) / TILE;
    const int64_t side = static_cast<int64_t>(tiles) * TILE;
    auto scratch = torch::empty({2, side, side}, A.options().dtype(torch::kHalf));
    half* prepared = reinterpret_cast<half*>(scratch.data_ptr<at::Half>());
    const dim3 blocks(tiles * (tiles + 1) / 2, 2);
    prepare_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), prepared, N, tiles, rows_aligned(A) && rows_aligned(B));
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    int most_shared = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, A.get_device()));
    if (most_shared >= static_cast<int>(STAGES * sizeof(Stage<DEEP_STEP>))) {
        multiply_prepared<DEEP_STEP>(prepared, C, tiles, rows_aligned(C));
    } else {
        multiply_prepared<FLAT_STEP>(prepared, C, tiles, rows_aligned(C));
    }
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
