// wmma_tf32: tensor cores (WMMA, 16 x 16 x 8); inputs rounded to TF32 while they are staged, sums in float32.
//   changed    against wmma_f16.cu: one launch; tiles stay float, every element rounded to TF32 on its way through the
//              registers to shared memory (a matrix prepared as float would be twice as large as one of halves); a warp
//              owns 64 x 64 of C, so a fragment read from shared memory is used four times; two slices of the block
//              each take half of the products
//   launch     1-D grid of T(T + 1) / 2 for T = ceil(N / 128), blocks of 256 threads (8 warps), 35 KiB of shared memory
//   needs      compute capability 8.0
//   the line   `wmma::__float_to_tf32(...)`: rounds to nearest before the tensor core would cut the low bits off
//   predicted  0.16 ms on an H100
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: that of float32.

#include <mma.h>
#include "triangular.cuh"

namespace wmma = nvcuda::wmma;

constexpr int TILE = 128;                           // side of the tile of C one block computes
constexpr int SLICES = 2;                           // parts of a step; each belongs to other warps
constexpr int BK = 32;                              // columns of A and rows of B staged at a time
constexpr int FRAGMENT = 16;                        // side of a fragment of C
constexpr int DEPTH = 8;                            // depth of a fragment of A or B along k
constexpr int PER_WARP = 4;                         // fragments of C along each side of a warp's part
constexpr int WARP_SIDE = PER_WARP * FRAGMENT;
constexpr int WARPS_ACROSS = TILE / WARP_SIDE;      // warps of a slice along each side of the tile
constexpr int SLICE_THREADS = WARPS_ACROSS * WARPS_ACROSS * WARP;
constexpr int THREADS = SLICES * SLICE_THREADS;
constexpr int A_PITCH = BK + 4;                     // floats from row to row of A's tile: 8 rows by 4 share no bank
constexpr int B_PITCH = TILE + 8;                   // of B's tile: 4 rows by 8 share no bank
constexpr int C_PITCH = WARP_SIDE + 4;              // floats from row to row of a strip of C
constexpr int ROUNDS = TILE * BK / (THREADS * FLOATS);    // times that a thread reads four elements of A in a step
static_assert(ROUNDS * THREADS * FLOATS == TILE * BK && SLICES == 2, "no rest");

struct Stage {
    float a[TILE * A_PITCH];
    float b[BK * B_PITCH];
};

// Reads a thread's share of a tile WIDTH wide. WHOLE says that the tile is aligned and all of it lies within the matrix
// and on or below the diagonal. Otherwise the matrix has `rows` more rows, (row, col) of the tile is used if
// col <= row + `below`, and all else is zero, so nothing above the diagonal is ever used.
template <int WIDTH, bool WHOLE>
__device__ void read_ahead(float4 (&ahead)[ROUNDS], const float* from, const int64_t N, int rows, int below,
                           bool aligned) {
    constexpr int APART = THREADS * FLOATS / WIDTH;  // rows from round to round
    const int row = threadIdx.x * FLOATS / WIDTH;
    const int col = threadIdx.x * FLOATS % WIDTH;
    from += row * N + col;
#pragma unroll
    for (int i = 0; i < ROUNDS; ++i) {
        const float* four = from + i * APART * N;
        const int count = row + i * APART < rows ? row + i * APART + below - col + 1 : 0;
        ahead[i] = WHOLE ? *reinterpret_cast<const float4*>(four) : load_four(four, count, aligned);
    }
}

// Rounds what was read of a tile WIDTH wide and puts it into shared memory.
template <int WIDTH, int PITCH>
__device__ void stage(float* tile, const float4 (&ahead)[ROUNDS]) {
    constexpr int APART = THREADS * FLOATS / WIDTH;
    float* to = tile + threadIdx.x * FLOATS / WIDTH * PITCH + threadIdx.x * FLOATS % WIDTH;
#pragma unroll
    for (int i = 0; i < ROUNDS; ++i) {
        const float4 four = ahead[i];
        *reinterpret_cast<float4*>(to + i * APART * PITCH) =
            make_float4(wmma::__float_to_tf32(four.x), wmma::__float_to_tf32(four.y), wmma::__float_to_tf32(four.z),
                        wmma::__float_to_tf32(four.w));
    }
}

using Sums = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, DEPTH, float>;
using Left = wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, DEPTH, wmma::precision::tf32, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, DEPTH, wmma::precision::tf32, wmma::row_major>;

// Adds one slice of a staged step to a warp's sums; `a` and `b` point at the warp's first row of A's tile and column of
// B's, where the slice begins.
__device__ void multiply(Sums (&sums)[PER_WARP][PER_WARP], const float* a, const float* b) {
#pragma unroll
    for (int k = 0; k < BK / SLICES; k += DEPTH) {
        Left left[PER_WARP];
        Right right[PER_WARP];
#pragma unroll
        for (int i = 0; i < PER_WARP; ++i) {
            wmma::load_matrix_sync(right[i], b + k * B_PITCH + i * FRAGMENT, B_PITCH);
        }
#pragma unroll
        for (int i = 0; i < PER_WARP; ++i) {
            wmma::load_matrix_sync(left[i], a + i * FRAGMENT * A_PITCH + k, A_PITCH);
        }
#pragma unroll
        for (int i = 0; i < PER_WARP; ++i) {
#pragma unroll
            for (int j = 0; j < PER_WARP; ++j) {
                wmma::mma_sync(sums[i][j], left[i], right[j], sums[i][j]);
            }
        }
    }
}

// Adds the other slice's sums, after which slice 0 has the totals of its even rows of fragments and slice 1 of its odd
// ones. The same thread of either slice holds the same elements. `spare` has room for four fragments of all warps.
__device__ void add_slices(Sums (&sums)[PER_WARP][PER_WARP], float* spare, int slice, int thread) {
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
        __syncthreads();  // `spare` holds a step, or the row before
        if (slice != i % SLICES) {
#pragma unroll
            for (int e = 0; e < PER_WARP * Sums::num_elements; ++e) {
                spare[e * SLICE_THREADS + thread] = sums[i][e / Sums::num_elements].x[e % Sums::num_elements];
            }
        }
        __syncthreads();
        if (slice == i % SLICES) {
#pragma unroll
            for (int e = 0; e < PER_WARP * Sums::num_elements; ++e) {
                sums[i][e / Sums::num_elements].x[e % Sums::num_elements] += spare[e * SLICE_THREADS + thread];
            }
        }
    }
    __syncthreads();
}

// The totals of a warp's slice to C from (row, col) on, by way of the warp's own strip of shared memory, since which
// thread holds which element of a fragment is not specified.
__device__ void store(float* __restrict__ C, const int64_t N, int64_t row, int64_t col,
                      Sums (&sums)[PER_WARP][PER_WARP], float* strip, int slice, bool aligned) {
#pragma unroll
    for (int i = 0; i < PER_WARP; ++i) {
        if (i % SLICES != slice) {
            continue;
        }
#pragma unroll
        for (int j = 0; j < PER_WARP; ++j) {
            wmma::store_matrix_sync(strip + j * FRAGMENT, sums[i][j], C_PITCH, wmma::mem_row_major);
        }
        __syncwarp();
        for (int quad = threadIdx.x % WARP; quad < FRAGMENT * WARP_SIDE / FLOATS; quad += WARP) {
            const int down = quad / (WARP_SIDE / FLOATS);
            const int across = quad % (WARP_SIDE / FLOATS) * FLOATS;
            const float4 four = *reinterpret_cast<const float4*>(strip + down * C_PITCH + across);
            store_four(C, N, row + i * FRAGMENT + down, col + across, four, aligned);
        }
        __syncwarp();  // before the next fragments overwrite the strip
    }
}

__global__ void __launch_bounds__(THREADS)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const int tiles, const bool aligned) {
    constexpr int STRIPS = THREADS / WARP * FRAGMENT * C_PITCH * sizeof(float);
    __shared__ __align__(32) unsigned char memory[sizeof(Stage) > STRIPS ? sizeof(Stage) : STRIPS];
    Stage& staged = *reinterpret_cast<Stage*>(memory);
    const Corner corner = corner_of<TILE, TILE>(blockIdx.x, tiles);
    const int slice = threadIdx.x / SLICE_THREADS;
    const int thread = threadIdx.x % SLICE_THREADS;
    const int warp_row = thread / WARP / WARPS_ACROSS * WARP_SIDE;
    const int warp_col = thread / WARP % WARPS_ACROSS * WARP_SIDE;
    zero_mirror_image<TILE, TILE, THREADS>(C, N, corner, aligned);

    // From here on rows of A are counted from the tile's first, and columns of A and rows of B from its first column.
    const int below = static_cast<int>(corner.row - corner.col);
    const int a_rows = static_cast<int>(N - corner.row);
    const int b_rows = static_cast<int>(N - corner.col);
    const int whole = aligned && a_rows >= TILE ? below + 1 : 0;  // A's columns up to here are used in every row
    const int end = below + (a_rows < TILE ? a_rows : TILE);
    const float* a_next = A + corner.row * N + corner.col;
    const float* b_next = B + corner.col * N + corner.col;
    float4 a_ahead[ROUNDS];
    float4 b_ahead[ROUNDS];
    const auto read = [&](int k) {
        if (k >= TILE && k + BK <= whole) {
            read_ahead<BK, true>(a_ahead, a_next, N, a_rows, below - k, aligned);
            read_ahead<TILE, true>(b_ahead, b_next, N, b_rows - k, k, aligned);
        } else {
            read_ahead<BK, false>(a_ahead, a_next, N, a_rows, below - k, aligned);
            read_ahead<TILE, false>(b_ahead, b_next, N, b_rows - k, k, aligned);
        }
        a_next += BK;
        b_next += BK * N;
    };
    Sums sums[PER_WARP][PER_WARP];
    for (int i = 0; i < PER_WARP; ++i) {
        for (int j = 0; j < PER_WARP; ++j) {
            wmma::fill_fragment(sums[i][j], 0.0f);
        }
    }
    const float* a_own = staged.a + warp_row * A_PITCH + slice * (BK / SLICES);
    const float* b_own = staged.b + slice * (BK / SLICES) * B_PITCH + warp_col;
    read(0);
    for (int k = 0; k < end; k += BK) {
        __syncthreads();  // all are done with the step before
        stage<BK, A_PITCH>(staged.a, a_ahead);
        stage<TILE, B_PITCH>(staged.b, b_ahead);
        __syncthreads();
        if (k + BK < end) {
            read(k + BK);
        }
        multiply(sums, a_own, b_own);
    }
    add_slices(sums, reinterpret_cast<float*>(memory), slice, thread);
    float* strip = reinterpret_cast<float*>(memory) + threadIdx.x / WARP * FRAGMENT * C_PITCH;
    store(C, N, corner.row + warp_row, corner.col + warp_col, sums, strip, slice, aligned);
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
    const unsigned blocks = tiles * (tiles + 1) / 2;
    const bool aligned = rows_aligned(A) && rows_aligned(B) && rows_aligned(C);
    triangular_mm_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N, tiles, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
