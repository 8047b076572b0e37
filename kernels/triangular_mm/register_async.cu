// register_async: register_blocked with asynchronous copies into shared memory instead of reads ahead into registers.
//   changed    against register_blocked.cu: `cp.async` fills a ring of three steps in shared memory, so nothing is held
//              in registers while it comes; A is transposed on the way, four bytes a copy, B comes in copies of sixteen
//   launch     1-D grid of T(T + 1) for T = ceil(N / 128), blocks of 128 threads, 36.8 KiB of shared memory
//   needs      compute capability 7.5 (below 8.0 the copies are ordinary reads and writes)
//   the line   `__pipeline_memcpy_async(to, from, ...)`: global to shared memory without a register or a waiting thread
//   predicted  no gain on an H100: a trial had lost to reading ahead
//   precision  float32 products and sums; relative error about 8e-7 at N = 4096

#include <cuda_pipeline.h>
#include "triangular.cuh"

constexpr int BM = 64;                              // of the tile of C one block computes
constexpr int BN = 128;
constexpr int BK = 16;                              // columns of A and rows of B staged at a time
constexpr int STAGES = 3;                           // steps in shared memory: one multiplied, two on their way
constexpr int BLOCKS_PER_SM = 3;
constexpr int TM = 8;                               // of C, that one thread owns
constexpr int TN = 8;
constexpr int LANE_ROWS = 4;                        // a warp is 4 x 8 threads and owns 32 x 64 of C
constexpr int LANE_COLS = WARP / LANE_ROWS;
constexpr int WARP_ROWS = LANE_ROWS * TM;
constexpr int WARP_COLS = LANE_COLS * TN;
constexpr int WARPS_ACROSS = BN / WARP_COLS;
constexpr int THREADS = BM / WARP_ROWS * WARPS_ACROSS * WARP;
constexpr int A_PITCH = BM + 4;                     // floats from column to column of A's tile
constexpr int A_COPIES = BM * BK / THREADS;         // of one element each, a thread and step
constexpr int B_COPIES = BK * BN / FLOATS / THREADS;
static_assert(A_COPIES * THREADS == BM * BK && B_COPIES * THREADS * FLOATS == BK * BN, "no rest");

struct Stage {
    float a[BK * A_PITCH];  // transposed: the rows a thread needs at once lie side by side
    float b[BK * BN];
};

// `count` of `SIZE` floats from `from` on, zeros for the rest; with none of them `from` is not read.
template <int SIZE>
__device__ void copy(float* to, const float* from, int count) {
    __pipeline_memcpy_async(to, from, SIZE * sizeof(float), (SIZE - count) * sizeof(float));
}

// Starts copying a step: 16 columns of A and rows of B from the tile's first column + k on. What lies outside the
// matrix or above the diagonal is zero, so nothing above the diagonal is ever used.
template <bool ALIGNED>
__device__ void fetch(Stage& to, const float* __restrict__ A, const float* __restrict__ B, const int64_t N,
                      const Corner& corner, int k) {
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
        const int place = threadIdx.x + i * THREADS;
        const int64_t row = corner.row + place / BK;
        const int64_t col = corner.col + k + place % BK;
        const bool used = row < N && col <= row;
        copy<1>(to.a + place % BK * A_PITCH + place / BK, used ? A + row * N + col : A, used);
    }
#pragma unroll
    for (int i = 0; i < B_COPIES; ++i) {
        const int place = (threadIdx.x + i * THREADS) * FLOATS;
        const int64_t row = corner.col + k + place / BN;
        const int64_t col = corner.col + place % BN;
        const int64_t below = row < N ? row - col + 1 : 0;
        const int used = below < 0 ? 0 : below < FLOATS ? static_cast<int>(below) : FLOATS;
        const float* from = used > 0 ? B + row * N + col : B;
        if (ALIGNED) {
            copy<FLOATS>(to.b + place, from, used);
        } else {
            for (int j = 0; j < FLOATS; ++j) {
                copy<1>(to.b + place + j, j < used ? from + j : B, j < used);
            }
        }
    }
}

// Every `APART`-th four floats.
template <int APART, int COUNT>
__device__ void read_own(float (&own)[COUNT], const float* from) {
#pragma unroll
    for (int i = 0; i < COUNT; i += FLOATS) {
        const float4 four = *reinterpret_cast<const float4*>(from + i * APART);
        own[i] = four.x;
        own[i + 1] = four.y;
        own[i + 2] = four.z;
        own[i + 3] = four.w;
    }
}

// What a thread multiplies now, and what next.
struct Own {
    float a[2][TM];
    float b[2][TN];

    __device__ void read(int k, const float* a_tile, const float* b_tile) {
        read_own<LANE_ROWS>(a[k % 2], a_tile + k * A_PITCH);
        read_own<LANE_COLS>(b[k % 2], b_tile + k * BN);
    }
};

// Adds the products of a staged step; `a_tile` and `b_tile` point at the thread's first row of A's and column of B's.
__device__ void multiply(float (&sums)[TM][TN], const float* a_tile, const float* b_tile) {
    Own own;
    own.read(0, a_tile, b_tile);
#pragma unroll
    for (int k = 0; k < BK; ++k) {
        if (k + 1 < BK) {
            own.read(k + 1, a_tile, b_tile);
        }
        const int now = k % 2;
#pragma unroll
        for (int j = 0; j < TN; ++j) {
#pragma unroll
            for (int step = 0; step < TM; ++step) {
                const int i = j % 2 == 0 ? step : TM - 1 - step;  // there and back: one operand stays
                sums[i][j] += own.a[now][i] * own.b[now][j];
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const int squares, const bool aligned) {
    __shared__ __align__(16) Stage stages[STAGES];
    const Corner corner = corner_of<BM, BN>(blockIdx.x, squares);
    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    const int lane_row = lane / (2 * LANE_COLS) * 2 + lane % 2;  // neighbours share a column of C, every second a row
    const int lane_col = lane / 2 % LANE_COLS;
    const int row = warp / WARPS_ACROSS * WARP_ROWS + lane_row * FLOATS;  // four, and four more LANE_ROWS * 4 later
    const int col = warp % WARPS_ACROSS * WARP_COLS + lane_col * FLOATS;
    zero_mirror_image<BM, BN, THREADS>(C, N, corner, aligned);

    const int64_t last = corner.row + BM < N ? corner.row + BM : N;  // A's columns from here on are not used
    const int steps = last > corner.col ? static_cast<int>((last - corner.col + BK - 1) / BK) : 0;
    const auto start = [&](int step) {
        if (step < steps && aligned) {
            fetch<true>(stages[step % STAGES], A, B, N, corner, step * BK);
        } else if (step < steps) {
            fetch<false>(stages[step % STAGES], A, B, N, corner, step * BK);
        }
        __pipeline_commit();  // closes a group of copies; empty at the end, so that the count below stays right
    };
    for (int step = 0; step < STAGES - 1; ++step) {
        start(step);
    }
    float sums[TM][TN] = {};
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);  // until all groups but the newest have arrived
        __syncthreads();  // this step is there for all, and all are done with the one before
        start(step + STAGES - 1);
        const Stage& from = stages[step % STAGES];
        multiply(sums, from.a + row, from.b + col);
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; j += FLOATS) {
            store_four(C, N, corner.row + row + i / FLOATS * LANE_ROWS * FLOATS + i % FLOATS,
                       corner.col + col + j * LANE_COLS, sums[i] + j, aligned);
        }
    }
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
