// mma_tf32: tensor cores by `mma.sync` (16 x 8 x 8) instead of WMMA, whose TF32 instructions are half as deep.
//   changed    against wmma_tf32.cu: tiles are copied asynchronously, several steps ahead, and rounded to TF32 in
//              registers just before they are multiplied; A's fragments come by `ldmatrix`, B's by reads of 16 bytes,
//              each four fragments, since the columns of C are dealt to the fragments so that a thread's lie side by
//              side. Sums longer than half the matrix are cut in two: the part that comes second adds to the first's
//   launch     1-D grid, one block a part: T(T + 1) / 2 tiles for T = ceil(N / 128), a quarter of them cut in two;
//              128 threads (4 warps, 64 x 64 of C each), 105 KiB of shared memory, 70 KiB where that is too much
//   needs      compute capability 8.0
//   the line   `mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32`: 2048 multiply-adds in one instruction of a warp
//   predicted  0.12 to 0.14 ms on an H200, by what L2 delivers to 128 x 128 tiles
//   precision  inputs keep 11 bits: relative error about 3e-4. Range: that of float32.

#include "triangular.cuh"

constexpr int BM = 128;                             // rows of the tile of C one block computes
constexpr int BN = 128;                             // and its columns
constexpr int BK = 32;                              // columns of A and rows of B staged at a time
constexpr int WM = 64;                              // rows of C that one warp owns
constexpr int WN = 64;                              // and its columns
constexpr int MANY_STAGES = 3;                      // steps in shared memory: one is multiplied, the others arrive
constexpr int FEW_STAGES = 2;                       // the same where a block may not have enough shared memory
constexpr int BLOCKS_PER_SM = 2;
constexpr int MMA_M = 16;                           // an instruction's rows of C, its columns, and its depth
constexpr int MMA_N = 8;
constexpr int MMA_K = 8;
constexpr int DOWN = WM / MMA_M;                    // fragments of C in a warp's part
constexpr int ACROSS = WN / MMA_N;
constexpr int GROUP = FLOATS * MMA_N;               // columns of C whose four fragments come in one read of B
constexpr int SLICES = BK / MMA_K;                  // instructions deep is a step
constexpr int WARPS_ACROSS = BN / WN;
constexpr int THREADS = BM / WM * WARPS_ACROSS * WARP;
constexpr int A_PITCH = BK + 4;                     // floats from row to row of A's tile: 8 rows by 4 share no bank
constexpr int B_PITCH = BN + 8;                     // of B's tile: 4 rows by 8 share no bank

#include "parts.cuh"

static_assert(BK % MMA_K == 0 && SLICES % 2 == 0 && UNIT % BK == 0, "whole slices, in pairs, and whole steps");
static_assert(WM % MMA_M == 0 && WN % GROUP == 0 && BM % WM == 0 && BN % WN == 0, "whole fragments and warps");

struct Stage {
    float a[BM * A_PITCH];
    float b[BK * B_PITCH];
};

// Starts to copy `SIZE` floats to shared memory, of which the first `count` are read and the others are zero.
template <int SIZE>
__device__ void copy(uint32_t to, const float* from, int count) {
    const int bytes = count * static_cast<int>(sizeof(float));
    if (SIZE == FLOATS) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    } else {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(from), "r"(bytes) : "memory");
    }
}

// Ends a group of copies. What was copied is there once at most `LATER` later groups are on their way.
__device__ void end_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LATER>
__device__ void wait_for_group() {
    asm volatile("cp.async.wait_group %0;" ::"n"(LATER) : "memory");
}

// Starts to copy a thread's share of a ROWS x COLS tile that lies within the matrix, on or below the diagonal; `to` and
// `from` are the share's first place.
template <int ROWS, int COLS, int PITCH>
__device__ void copy_whole(uint32_t to, const float* __restrict__ from, const int64_t N) {
    constexpr int APART = THREADS * FLOATS / COLS;  // rows from copy to copy
    static_assert(ROWS % APART == 0 && THREADS * FLOATS % COLS == 0, "no rest");
#pragma unroll
    for (int i = 0; i < ROWS / APART; ++i) {
        copy<FLOATS>(to + i * APART * PITCH * sizeof(float), from + i * APART * N, FLOATS);
    }
}

// The same of any tile: the matrix has `rows` more rows from the share's first on, `used` elements of that one lie on
// or below the diagonal, and all else is zero, so nothing above the diagonal is ever used.
template <int ROWS, int COLS, int PITCH>
__device__ void copy_part(uint32_t to, const float* __restrict__ from, const float* __restrict__ matrix,
                          const int64_t N, int rows, int used, bool aligned) {
    constexpr int APART = THREADS * FLOATS / COLS;
#pragma unroll 1
    for (int i = 0; i < ROWS; i += APART) {
        const int below = i < rows ? used + i : 0;
        const int count = below < 0 ? 0 : below < FLOATS ? below : FLOATS;
        const float* four = count > 0 ? from + i * N : matrix;
        const uint32_t place = to + i * PITCH * sizeof(float);
        if (aligned) {
            copy<FLOATS>(place, four, count);
            continue;
        }
#pragma unroll
        for (int j = 0; j < FLOATS; ++j) {
            copy<1>(place + j * sizeof(float), j < count ? four + j : matrix, j < count);
        }
    }
}

// A warp's operands for one slice of a step, as they were copied.
struct Operands {
    uint32_t a[DOWN][4];
    float b[2][ACROSS];

    // `a_tile` is the address of the lane's row of A's tile, `b_tile` the lane's first four elements of B's.
    __device__ void read(uint32_t a_tile, const float* b_tile, int slice) {
#pragma unroll
        for (int i = 0; i < DOWN; ++i) {
            const uint32_t from = a_tile + (i * MMA_M * A_PITCH + slice * MMA_K) * static_cast<int>(sizeof(float));
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a[i][0]), "=r"(a[i][1]), "=r"(a[i][2]), "=r"(a[i][3])
                         : "r"(from)
                         : "memory");
        }
#pragma unroll
        for (int half = 0; half < 2; ++half) {
#pragma unroll
            for (int j = 0; j < ACROSS; j += FLOATS) {
                const float* from = b_tile + (slice * MMA_K + half * MMA_K / 2) * B_PITCH + j * MMA_N;
                const float4 four = *reinterpret_cast<const float4*>(from);
                b[half][j] = four.x;
                b[half][j + 1] = four.y;
                b[half][j + 2] = four.z;
                b[half][j + 3] = four.w;
            }
        }
    }
};

struct Sums {
    float of[DOWN][ACROSS][4];
};

__device__ void multiply(Sums& sums, const Operands& by) {
    uint32_t b[2][ACROSS];
#pragma unroll
    for (int j = 0; j < ACROSS; ++j) {
        b[0][j] = rounded(by.b[0][j]);
        b[1][j] = rounded(by.b[1][j]);
    }
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
        uint32_t a[4];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            a[e] = rounded(__uint_as_float(by.a[i][e]));
        }
#pragma unroll
        for (int step = 0; step < ACROSS; ++step) {
            const int j = i % 2 == 0 ? step : ACROSS - 1 - step;
            float(&c)[4] = sums.of[i][j];
            asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
                         "{%8, %9}, {%0, %1, %2, %3};"
                         : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                         : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0][j]), "r"(b[1][j]));
        }
    }
}

// C[row][col .. col + 3] as far as it is on or below the diagonal and within the matrix; plus what is there if `add`.
__device__ void store_four(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, float4 four,
                           bool aligned, bool add) {
    float* to = C + row * N + col;
    if (aligned && row < N && col + FLOATS - 1 <= row) {
        if (add) {
            const float4 there = __ldcg(reinterpret_cast<const float4*>(to));
            four = make_float4(four.x + there.x, four.y + there.y, four.z + there.z, four.w + there.w);
        }
        *reinterpret_cast<float4*>(to) = four;
        return;
    }
    const float each[FLOATS] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i <= row) {
            to[i] = add ? each[i] + __ldcg(to + i) : each[i];
        }
    }
}

// A warp's sums to C from (row, col) on. Lane 4 r + c has columns 8 c to 8 c + 7 of every 32, in rows r and r + 8 of
// every 16.
__device__ void store(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, const Sums& sums, bool aligned,
                      bool add) {
    const int lane = threadIdx.x % WARP;
#pragma unroll
    for (int i = 0; i < DOWN; ++i) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {  // the lane's two rows, and four columns each of two
#pragma unroll
            for (int j = 0; j < ACROSS; j += FLOATS) {
                const float4 four = make_float4(sums.of[i][j][e], sums.of[i][j + 1][e], sums.of[i][j + 2][e],
                                                sums.of[i][j + 3][e]);
                store_four(C, N, row + i * MMA_M + e / 2 * 8 + lane / 4,
                           col + j * MMA_N + (lane % 4 * 2 + e % 2) * FLOATS, four, aligned, add);
            }
        }
    }
}

template <int STAGES>
__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                     int* __restrict__ tickets, const int64_t N, const int units, const int most, const bool aligned) {
    extern __shared__ __align__(128) unsigned char memory[];
    Stage* stages = reinterpret_cast<Stage*>(memory);
    const Part part = part_of(blockIdx.x, units, most);
    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    const int warp_row = warp / WARPS_ACROSS * WM;
    const int warp_col = warp % WARPS_ACROSS * WN;

    // From here on rows of A are counted from the tile's first, and columns of A and rows of B from its first column.
    const int below = part.row - part.col;
    const int a_rows = static_cast<int>(N - part.row);
    const int b_rows = static_cast<int>(N - part.col);
    const int whole = aligned && a_rows >= BM ? below + 1 : 0;  // A's columns up to here are used in every row
    const int last = below + (a_rows < BM ? a_rows : BM);
    const int end = last < part.to ? last : part.to;
    const int steps = end > part.from ? (end - part.from + BK - 1) / BK : 0;
    const int a_row = threadIdx.x * FLOATS / BK;  // of a thread's share of a tile
    const int a_col = threadIdx.x * FLOATS % BK;
    const int b_row = threadIdx.x * FLOATS / BN;
    const int b_col = threadIdx.x * FLOATS % BN;
    const float* a_next = A + (part.row + a_row) * N + part.col + part.from + a_col;
    const float* b_next = B + (part.col + part.from + b_row) * N + part.col + b_col;
    const auto fetch = [&](int step) {
        if (step < steps) {
            const int k = part.from + step * BK;
            const uint32_t a_to = address(stages[step % STAGES].a + a_row * A_PITCH + a_col);
            const uint32_t b_to = address(stages[step % STAGES].b + b_row * B_PITCH + b_col);
            if (k >= BN && k + BK <= whole) {
                copy_whole<BM, BK, A_PITCH>(a_to, a_next, N);
                copy_whole<BK, BN, B_PITCH>(b_to, b_next, N);
            } else {
                copy_part<BM, BK, A_PITCH>(a_to, a_next, A, N, a_rows - a_row, a_row + below - k - a_col + 1, aligned);
                copy_part<BK, BN, B_PITCH>(b_to, b_next, B, N, b_rows - k - b_row, k + b_row - b_col + 1, aligned);
            }
            a_next += BK;
            b_next += BK * N;
        }
        end_group();  // empty at the end, so that the count below stays right
    };
    const int a_own = (warp_row + lane % 16) * A_PITCH + lane / 16 * 4;  // the row of an 8 x 4 matrix for ldmatrix
    const int b_own = lane % 4 * B_PITCH + warp_col + lane / 4 * FLOATS;
    const auto read = [&](Operands& to, int step, int slice) {
        const Stage& from = stages[step % STAGES];
        to.read(address(from.a + a_own), from.b + b_own, slice);
    };
    for (int step = 0; step < STAGES - 1; ++step) {
        fetch(step);
    }
    Sums sums = {};
    Operands operands[2];
    wait_for_group<STAGES - 2>();
    __syncthreads();
    if (steps > 0) {
        read(operands[0], 0, 0);
    }
    for (int step = 0; step < steps; ++step) {
        fetch(step + STAGES - 1);
#pragma unroll
        for (int slice = 0; slice + 1 < SLICES; ++slice) {
            read(operands[(slice + 1) % 2], step, slice + 1);
            multiply(sums, operands[slice % 2]);
        }
        wait_for_group<STAGES - 2>();
        __syncthreads();  // the next step is there for all, and all have read this one
        if (step + 1 < steps) {
            read(operands[0], step + 1, 0);
        }
        multiply(sums, operands[1]);
    }
    store_in_turn(part, tickets, reinterpret_cast<int*>(memory), [&](bool add) {
        store(C, N, part.row + warp_row, part.col + warp_col, sums, aligned, add);
    });
    if (part.from == 0) {
        zero_mirror_image<BM, BN, THREADS>(C, N, part, aligned);
    }
}

template <int STAGES>
void multiply_matrices(const torch::Tensor& A, const torch::Tensor& B, torch::Tensor& C) {
    constexpr int SHARED = STAGES * sizeof(Stage);
    const auto stream = at::cuda::getCurrentCUDAStream();
    const int64_t N = A.size(0);
    const Parts parts(N);
    auto tickets = torch::empty({parts.tiles}, A.options().dtype(torch::kInt));
    C10_CUDA_CHECK(cudaMemsetAsync(tickets.data_ptr<int>(), 0, parts.tiles * sizeof(int), stream));
    C10_CUDA_CHECK(
        cudaFuncSetAttribute(triangular_mm_kernel<STAGES>, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED));
    const bool aligned = rows_aligned(A) && rows_aligned(B) && rows_aligned(C);
    triangular_mm_kernel<STAGES><<<parts.blocks, THREADS, SHARED, stream>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), tickets.data_ptr<int>(), N, parts.units,
        parts.most, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    auto C = torch::empty_like(A);
    if (A.size(0) == 0) {
        return C;
    }
    int most_shared = 0;
    C10_CUDA_CHECK(cudaDeviceGetAttribute(&most_shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, A.get_device()));
    if (most_shared >= static_cast<int>(MANY_STAGES * sizeof(Stage))) {
        multiply_matrices<MANY_STAGES>(A, B, C);
    } else {
        multiply_matrices<FEW_STAGES>(A, B, C);
    }
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
