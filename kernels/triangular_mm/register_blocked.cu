// register_blocked: the fastest float32 kernel here without tensor cores: 8 x 8 sums in the registers of every thread.
//   changed    against shared_tiled.cu: a block computes 64 x 128 of C and a thread 8 x 8 of it, so a value read from
//              shared memory is used 8 times; the next step is read while one is multiplied, in two rounds that share
//              registers, and a thread's next values likewise; lanes are numbered so that no two words a warp reads
//              collide; longest sums first; a block also writes the zeros of its mirror image
//   launch     1-D grid of T(T + 1) for T = ceil(N / 128), blocks of 128 threads, 24.5 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `sums[i][j] += own.a[now][i] * own.b[now][j]`: 64 multiply-adds for 4 reads of shared memory
//   predicted  0.49 ms on an H100: 7 % more products than useful ones, at the 77 % of peak that cuBLAS reaches
//   precision  float32 products and sums; relative error about 8e-7 at N = 4096

#include "triangular.cuh"

constexpr int BM = 64;                              // of the tile of C one block computes
constexpr int BN = 128;
constexpr int BK = 16;                              // columns of A and rows of B staged at a time
constexpr int BLOCKS_PER_SM = 3;                    // at four, ptxas has registers collide: slower
constexpr int TM = 8;                               // of C, that one thread owns
constexpr int TN = 8;
constexpr int LANE_ROWS = 4;                        // a warp is 4 x 8 threads and owns 32 x 64 of C
constexpr int LANE_COLS = WARP / LANE_ROWS;
constexpr int WARP_ROWS = LANE_ROWS * TM;
constexpr int WARP_COLS = LANE_COLS * TN;
constexpr int WARPS_ACROSS = BN / WARP_COLS;
constexpr int THREADS = BM / WARP_ROWS * WARPS_ACROSS * WARP;
constexpr int A_PITCH = BM + 4;                     // floats from column to column of A's tile
constexpr int A_APART = THREADS * FLOATS / BK;      // rows of A between two reads of a thread
constexpr int B_APART = THREADS * FLOATS / BN;      // rows of B
constexpr int A_ROUNDS = BM / A_APART;              // reads of a thread in a step
constexpr int B_ROUNDS = BK / B_APART;
constexpr int EARLY = 1;                            // of those of B, with all of A's in the first half of a step
constexpr int LATE = B_ROUNDS - EARLY;              // in its second half
static_assert(A_ROUNDS * A_APART == BM && B_ROUNDS * B_APART == BK && TM == 2 * FLOATS, "no rest");

struct Stage {
    float a[BK * A_PITCH];  // transposed: the rows a thread needs at once lie side by side
    float b[BK * BN];
};

// Where a thread reads: four elements of every APART-th row, `row` of the tile first; the matrix ends after `rows`;
// `used` elements of its first four lie on or below the diagonal, and APART more in the next.
struct Share {
    int row;
    int rows;
    int used;
};

// Reads a thread's share. WHOLE says that all of the tile lies within the matrix, on or below the diagonal and aligned.
// Otherwise what does not is zero, so nothing above the diagonal is ever used.
template <bool WHOLE, int APART, int ROUNDS>
__device__ void read_ahead(float4 (&ahead)[ROUNDS], const float* from, const int64_t N, const Share& share,
                           bool aligned) {
#pragma unroll
    for (int i = 0; i < ROUNDS; ++i) {
        const float* four = from + i * APART * N;
        const int count = share.row + i * APART < share.rows ? share.used + i * APART : 0;
        ahead[i] = WHOLE ? *reinterpret_cast<const float4*>(four) : load_four(four, count, aligned);
    }
}

// Puts what a thread has read of A into shared memory, transposed.
__device__ void stage_a(float* to, const float4 (&ahead)[A_ROUNDS]) {
#pragma unroll
    for (int i = 0; i < A_ROUNDS; ++i) {
        float* at = to + i * A_APART;
        at[0] = ahead[i].x;
        at[A_PITCH] = ahead[i].y;
        at[2 * A_PITCH] = ahead[i].z;
        at[3 * A_PITCH] = ahead[i].w;
    }
}

template <int ROUNDS>
__device__ void stage_b(float* to, const float4 (&ahead)[ROUNDS]) {
#pragma unroll
    for (int i = 0; i < ROUNDS; ++i) {
        *reinterpret_cast<float4*>(to + i * B_APART * BN) = ahead[i];
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

// Adds the products FROM .. TO - 1 of a staged step; `a_tile` and `b_tile` point at the thread's first row of A's and
// column of B's.
template <int FROM, int TO>
__device__ void multiply(float (&sums)[TM][TN], Own& own, const float* a_tile, const float* b_tile) {
#pragma unroll
    for (int k = FROM; k < TO; ++k) {
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
    __shared__ __align__(16) Stage stages[2];
    const Corner corner = corner_of<BM, BN>(blockIdx.x, squares);
    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    const int lane_row = lane / (2 * LANE_COLS) * 2 + lane % 2;  // neighbours share a column of C, every second a row
    const int lane_col = lane / 2 % LANE_COLS;
    const int row = warp / WARPS_ACROSS * WARP_ROWS + lane_row * FLOATS;  // four, and four more LANE_ROWS * 4 later
    const int col = warp % WARPS_ACROSS * WARP_COLS + lane_col * FLOATS;
    zero_mirror_image<BM, BN, THREADS>(C, N, corner, aligned);

    // From here on rows of A are counted from the tile's first, and columns of A and rows of B from its first column.
    const int below = static_cast<int>(corner.row - corner.col);
    const int a_rows = static_cast<int>(N - corner.row);
    const int b_rows = static_cast<int>(N - corner.col);
    const int whole = aligned && a_rows >= BM ? below + 1 : 0;  // A's columns up to here are used in every row
    const int end = below + (a_rows < BM ? a_rows : BM);
    const int a_row = threadIdx.x * FLOATS / BK;
    const int a_col = threadIdx.x * FLOATS % BK;
    const int b_row = threadIdx.x * FLOATS / BN;
    const int b_col = threadIdx.x * FLOATS % BN;
    const float* a_next = A + (corner.row + a_row) * N + corner.col + a_col;
    const float* b_next = B + (corner.col + b_row) * N + corner.col + b_col;
    const auto read_early = [&](float4(&a)[A_ROUNDS], float4(&b)[EARLY], int k, bool whole_step) {
        const Share a_share = {a_row, a_rows, a_row + below - k - a_col + 1};
        const Share b_share = {k + b_row, b_rows, k + b_row - b_col + 1};
        if (whole_step) {
            read_ahead<true, A_APART>(a, a_next, N, a_share, aligned);
            read_ahead<true, B_APART>(b, b_next, N, b_share, aligned);
        } else {
            read_ahead<false, A_APART>(a, a_next, N, a_share, aligned);
            read_ahead<false, B_APART>(b, b_next, N, b_share, aligned);
        }
    };
    const auto read_late = [&](float4(&b)[LATE], int k, bool whole_step) {
        const float* from = b_next + EARLY * B_APART * N;
        const int first = k + b_row + EARLY * B_APART;
        const Share share = {first, b_rows, first - b_col + 1};
        if (whole_step) {
            read_ahead<true, B_APART>(b, from, N, share, aligned);
        } else {
            read_ahead<false, B_APART>(b, from, N, share, aligned);
        }
    };
    const auto stage_early = [&](Stage& to, const float4(&a)[A_ROUNDS], const float4(&b)[EARLY]) {
        stage_a(to.a + a_col * A_PITCH + a_row, a);
        stage_b(to.b + b_row * BN + b_col, b);
    };
    const auto stage_late = [&](Stage& to, const float4(&b)[LATE]) {
        stage_b(to.b + (b_row + EARLY * B_APART) * BN + b_col, b);
    };
    float sums[TM][TN] = {};
    if (end > 0) {
        float4 a[A_ROUNDS];
        float4 early[EARLY];
        float4 late[LATE];
        read_early(a, early, 0, false);
        read_late(late, 0, false);
        stage_early(stages[0], a, early);
        stage_late(stages[0], late);
    }
    int now = 0;
    for (int k = 0; k < end; k += BK) {  // the last one stages a step that nobody multiplies: cheaper than to ask
        __syncthreads();  // this step is there for all, and all are done with the one before
        const Stage& from = stages[now];
        Stage& next = stages[1 - now];
        const bool whole_step = k + BK >= BN && k + 2 * BK <= whole;
        a_next += BK;
        b_next += BK * N;
        Own own;
        {
            float4 a[A_ROUNDS];
            float4 early[EARLY];
            read_early(a, early, k + BK, whole_step);
            own.read(0, from.a + row, from.b + col);
            multiply<0, BK / 2>(sums, own, from.a + row, from.b + col);
            stage_early(next, a, early);
        }
        {
            float4 late[LATE];
            read_late(late, k + BK, whole_step);
            multiply<BK / 2, BK>(sums, own, from.a + row, from.b + col);
            stage_late(next, late);
        }
        now = 1 - now;
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
