// wmma_split: float32 accuracy from tensor cores (WMMA, 16 x 16 x 16): every element is split into two halves.
//   changed    against wmma_tf32.cu: halves instead of TF32, two for each element: x = large + rest / 2048, and a * b =
//              large * large + (large * rest + rest * large) / 2048; rest * rest is below 2^-22 of the product and left
//              out. The tensor core, which cuts low bits off, sums 16 products at a time from zero; the result is added
//              to the sum with rounding. Blocks of 64 x 64, so that three share a multiprocessor. Three products in
//              TF32 were tried too: WMMA runs TF32 at a quarter of the depth, and it took 2.6 times as long on an H100
//   launch     1-D grid of T(T + 1) / 2 for T = ceil(N / 64), blocks of 128 threads (4 warps), 19 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `multiply_add(part, left.rest, right.large)`: what rounding the inputs to half leaves out
//   predicted  0.25 ms or less on an H100, if the parts were prepared by a first launch, as for wmma_f16
//   precision  inputs keep 22 bits: relative error about 2e-7 at N = 4096, below that of float32 sums. Range: finite
//              |x| < 65520 (a larger one becomes infinite, then NaN); below 6.1e-5 an element is off by up to 2^-36,
//              so inputs whose every element is below about 1e-5 should be scaled up first. Sums are float32.

#include <cuda_fp16.h>
#include <mma.h>
#include "triangular.cuh"

namespace wmma = nvcuda::wmma;

constexpr int BM = 64;                              // of the tile of C one block computes
constexpr int BN = 64;
constexpr int SLICES = 2;                           // parts of a step; each belongs to other warps
constexpr int BLOCKS_PER_SM = 3;
constexpr int FRAGMENT = 16;                        // side of a fragment, and its depth along k
constexpr int BK = SLICES * FRAGMENT;               // columns of A and rows of B staged at a time
constexpr int WARP_ROWS = 64;                       // of C, that one warp owns
constexpr int WARP_COLS = 32;
constexpr int DOWN = WARP_ROWS / FRAGMENT;          // fragments of C in a warp's part
constexpr int ACROSS = WARP_COLS / FRAGMENT;
constexpr int WARPS_ACROSS = BN / WARP_COLS;
constexpr int WARPS = BM / WARP_ROWS * WARPS_ACROSS;    // in a slice
constexpr int THREADS = SLICES * WARPS * WARP;
constexpr int A_PITCH = BK + 8;                     // halves from row to row of A's tile: no two of 8 rows share banks
constexpr int B_PITCH = BN + 8;                     // the same for B's tile
constexpr int C_PITCH = BN + 4;                     // floats, while slices are added
constexpr int A_ROUNDS = BM * BK / (THREADS * FLOATS);      // times that a thread reads four elements of A in a step
constexpr int B_ROUNDS = BK * BN / (THREADS * FLOATS);
constexpr float SCALE = 2048.0f;                    // of the rests: they keep 11 bits, as the large parts do
static_assert(A_ROUNDS * THREADS * FLOATS == BM * BK && B_ROUNDS * THREADS * FLOATS == BK * BN, "no rest");

struct Stage {
    half a_large[BM * A_PITCH];
    half a_rest[BM * A_PITCH];
    half b_large[BK * B_PITCH];
    half b_rest[BK * B_PITCH];
};

// Reads a thread's share of a tile WIDTH wide. WHOLE says that the tile is aligned and all of it lies within the matrix
// and on or below the diagonal. Otherwise the matrix has `rows` more rows, (row, col) of the tile is used if
// col <= row + `below`, and all else is zero, so nothing above the diagonal is ever used.
template <int WIDTH, bool WHOLE, int ROUNDS>
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

struct __align__(8) FourHalves {
    half2 low;
    half2 high;
};

// Splits what was read of a tile WIDTH wide into the tile's large parts and rests.
template <int WIDTH, int PITCH, int ROUNDS>
__device__ void stage(half* large, half* rest, const float4 (&ahead)[ROUNDS]) {
    constexpr int APART = THREADS * FLOATS / WIDTH;
    const int first = threadIdx.x * FLOATS / WIDTH * PITCH + threadIdx.x * FLOATS % WIDTH;
#pragma unroll
    for (int i = 0; i < ROUNDS; ++i) {
        const float4 four = ahead[i];
        const half2 low = __floats2half2_rn(four.x, four.y);
        const half2 high = __floats2half2_rn(four.z, four.w);
        const half2 low_rest =
            __floats2half2_rn((four.x - __low2float(low)) * SCALE, (four.y - __high2float(low)) * SCALE);
        const half2 high_rest =
            __floats2half2_rn((four.z - __low2float(high)) * SCALE, (four.w - __high2float(high)) * SCALE);
        *reinterpret_cast<FourHalves*>(large + first + i * APART * PITCH) = {low, high};
        *reinterpret_cast<FourHalves*>(rest + first + i * APART * PITCH) = {low_rest, high_rest};
    }
}

using Sums = wmma::fragment<wmma::accumulator, FRAGMENT, FRAGMENT, FRAGMENT, float>;
using Left = wmma::fragment<wmma::matrix_a, FRAGMENT, FRAGMENT, FRAGMENT, half, wmma::row_major>;
using Right = wmma::fragment<wmma::matrix_b, FRAGMENT, FRAGMENT, FRAGMENT, half, wmma::row_major>;

template <class Fragment>
struct Split {
    Fragment large;
    Fragment rest;
};

template <class Fragment>
__device__ void load(Split<Fragment>& split, const half* large, const half* rest, int at, int pitch) {
    wmma::load_matrix_sync(split.large, large + at, pitch);
    wmma::load_matrix_sync(split.rest, rest + at, pitch);
}

__device__ void multiply_add(Sums& sum, const Left& left, const Right& right) {
    wmma::mma_sync(sum, left, right, sum);
}

// sum += left * right, the small products first.
__device__ void add_product(Sums& sum, const Split<Left>& left, const Split<Right>& right) {
    Sums part;
    wmma::fill_fragment(part, 0.0f);
    multiply_add(part, left.large, right.rest);
    multiply_add(part, left.rest, right.large);
#pragma unroll
    for (int i = 0; i < part.num_elements; ++i) {
        part.x[i] *= 1.0f / SCALE;
    }
    multiply_add(part, left.large, right.large);
#pragma unroll
    for (int i = 0; i < part.num_elements; ++i) {
        sum.x[i] += part.x[i];
    }
}

// Adds one slice of a staged step to a warp's sums: rows from `row` of A's tile, columns from `col` of B's, FRAGMENT
// products from `k` on.
__device__ void multiply(Sums (&sums)[DOWN][ACROSS], const Stage& from, int row, int col, int k) {
    Split<Right> right[ACROSS];
#pragma unroll
    for (int j = 0; j < ACROSS; ++j) {
        load(right[j], from.b_large, from.b_rest, k * B_PITCH + col + j * FRAGMENT, B_PITCH);
    }
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
        Split<Left> left;
        load(left, from.a_large, from.a_rest, (row + i * FRAGMENT) * A_PITCH + k, A_PITCH);
#pragma unroll
        for (int j = 0; j < ACROSS; ++j) {
            add_product(sums[i][j], left, right[j]);
        }
    }
}

// The sums of all slices, as a BM x BN tile in shared memory, since which thread holds which element of a fragment
// is not specified. `to` points at the warp's part of it.
__device__ void gather(float* to, Sums (&sums)[DOWN][ACROSS], int slice) {
    for (int turn = 0; turn < SLICES; ++turn) {
        __syncthreads();  // the tile's memory holds a step, or the sums so far
        if (slice == turn) {
#pragma unroll
            for (int i = 0; i < DOWN; ++i) {
#pragma unroll
                for (int j = 0; j < ACROSS; ++j) {
                    float* at = to + i * FRAGMENT * C_PITCH + j * FRAGMENT;
                    if (turn > 0) {
                        Sums before;
                        wmma::load_matrix_sync(before, at, C_PITCH, wmma::mem_row_major);
#pragma unroll
                        for (int e = 0; e < before.num_elements; ++e) {
                            sums[i][j].x[e] += before.x[e];
                        }
                    }
                    wmma::store_matrix_sync(at, sums[i][j], C_PITCH, wmma::mem_row_major);
                }
            }
        }
    }
    __syncthreads();
}

// A BM x BN tile to C as far as it is on or below the diagonal and within the matrix.
__device__ void store_tile(float* __restrict__ C, const int64_t N, const Corner& corner, const float* tile,
                           bool aligned) {
    for (int quad = threadIdx.x; quad < BM * BN / FLOATS; quad += THREADS) {
        const int64_t row = corner.row + quad / (BN / FLOATS);
        const int64_t col = corner.col + quad % (BN / FLOATS) * FLOATS;
        const float* from = tile + quad / (BN / FLOATS) * C_PITCH + quad % (BN / FLOATS) * FLOATS;
        store_four(C, N, row, col, *reinterpret_cast<const float4*>(from), aligned);
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const int squares, const bool aligned) {
    constexpr int GATHERED = BM * C_PITCH * sizeof(float);
    __shared__ __align__(32) unsigned char memory[sizeof(Stage) > GATHERED ? sizeof(Stage) : GATHERED];
    Stage& staged = *reinterpret_cast<Stage*>(memory);
    const Corner corner = corner_of<BM, BN>(blockIdx.x, squares);
    const int slice = threadIdx.x / (WARPS * WARP);
    const int warp = threadIdx.x / WARP % WARPS;
    const int warp_row = warp / WARPS_ACROSS * WARP_ROWS;
    const int warp_col = warp % WARPS_ACROSS * WARP_COLS;
    zero_mirror_image<BM, BN, THREADS>(C, N, corner, aligned);

    // From here on rows of A are counted from the tile's first, and columns of A and rows of B from its first column.
    const int below = static_cast<int>(corner.row - corner.col);
    const int a_rows = static_cast<int>(N - corner.row);
    const int b_rows = static_cast<int>(N - corner.col);
    const int whole = aligned && a_rows >= BM ? below + 1 : 0;  // A's columns up to here are used in every row
    const int end = below + (a_rows < BM ? a_rows : BM);
    const float* a_next = A + corner.row * N + corner.col;
    const float* b_next = B + corner.col * N + corner.col;
    float4 a_ahead[A_ROUNDS];
    float4 b_ahead[B_ROUNDS];
    const auto read = [&](int k) {
        if (k >= BN && k + BK <= whole) {
            read_ahead<BK, true>(a_ahead, a_next, N, a_rows, below - k, aligned);
            read_ahead<BN, true>(b_ahead, b_next, N, b_rows - k, k, aligned);
        } else {
            read_ahead<BK, false>(a_ahead, a_next, N, a_rows, below - k, aligned);
            read_ahead<BN, false>(b_ahead, b_next, N, b_rows - k, k, aligned);
        }
        a_next += BK;
        b_next += BK * N;
    };
    Sums sums[DOWN][ACROSS];
    for (int i = 0; i < DOWN; ++i) {
        for (int j = 0; j < ACROSS; ++j) {
            wmma::fill_fragment(sums[i][j], 0.0f);
        }
    }
    read(0);
    for (int k = 0; k < end; k += BK) {
        __syncthreads();  // all are done with the step before
        stage<BK, A_PITCH>(staged.a_large, staged.a_rest, a_ahead);
        stage<BN, B_PITCH>(staged.b_large, staged.b_rest, b_ahead);
        __syncthreads();
        if (k + BK < end) {
            read(k + BK);
        }
        multiply(sums, staged, warp_row, warp_col, slice * FRAGMENT);
    }
    float* tile = reinterpret_cast<float*>(memory);
    gather(tile + warp_row * C_PITCH + warp_col, sums, slice);
    store_tile(C, N, corner, tile, aligned);
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);
    if (N == 0) {
        return C;
    }
    const int squares = squares_of<BM, BN>(N);
        const bool aligned = rows_aligned(A) && rows_aligned(B) && rows_aligned(C);
    triangular_mm_kernel<<<blocks_of<BM, BN>(squares), THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N, squares, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
