// register_async: register_blocked with asynchronous copies into shared memory instead of reads ahead into registers.
//   changed    against register_blocked.cu: `cp.async` fills a ring of three steps in shared memory, so nothing is held in
//              registers while it comes; A is transposed on the way, four bytes a copy, B comes in copies of sixteen
//   launch     1-D grid of T(T + 1) for T = ceil(N / 128), blocks of 128 threads, 36.8 KiB of shared memory
//   needs      compute capability 7.5 (below 8.0 the copies are ordinary reads and writes)
//   the line   `__pipeline_memcpy_async(to, from, ...)`: global to shared memory without a register or a waiting thread
//   gained     nothing: H100 80GB HBM3, N = 4096: 0.520 ms (register_blocked) -> 0.733 ms
//   precision  float32 products and sums; relative error about 8e-7 at N = 4096

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>

constexpr int ROWS = 64;                            // of the tile of C one block computes
constexpr int COLS = 128;
constexpr int STEP = 16;                            // columns of A and rows of B staged at a time
constexpr int STAGES = 3;                           // steps in shared memory: one multiplied, two on their way
constexpr int BLOCKS_PER_SM = 3;
constexpr int OWN_ROWS = 8;                         // of C, that one thread owns
constexpr int OWN_COLS = 8;
constexpr int FLOATS = 4;                           // elements read and stored in one go
constexpr int WARP = 32;                            // threads in a warp
constexpr int LANE_ROWS = 4;                        // a warp is 4 x 8 threads and owns 32 x 64 of C
constexpr int LANE_COLS = WARP / LANE_ROWS;
constexpr int WARP_ROWS = LANE_ROWS * OWN_ROWS;
constexpr int WARP_COLS = LANE_COLS * OWN_COLS;
constexpr int WARPS_ACROSS = COLS / WARP_COLS;
constexpr int THREADS = ROWS / WARP_ROWS * WARPS_ACROSS * WARP;
constexpr int A_PITCH = ROWS + 4;                   // floats from column to column of A's tile
constexpr int SQUARE = ROWS > COLS ? ROWS : COLS;   // tiles are handed out by squares of this side
constexpr int PER_SQUARE = SQUARE / ROWS * (SQUARE / COLS);
constexpr int A_COPIES = ROWS * STEP / THREADS;     // of one element each, a thread and step
constexpr int B_COPIES = STEP * COLS / FLOATS / THREADS;
static_assert(A_COPIES * THREADS == ROWS * STEP && B_COPIES * THREADS * FLOATS == STEP * COLS, "no rest");

struct Stage {
    float a[STEP * A_PITCH];  // transposed: the rows a thread needs at once lie side by side
    float b[STEP * COLS];
};

struct Corner {
    int64_t row;
    int64_t col;
};

// First row and column of a block's tile. Squares on or below the diagonal are counted from the lower left corner, one
// diagonal after the other, so the longest sums start first.
__device__ Corner corner_of(int block, int squares) {
    const int square = block / PER_SQUARE;
    const int part = block % PER_SQUARE;
    int diagonal = static_cast<int>((sqrtf(8.0f * square + 1.0f) - 1.0f) / 2.0f);
    while (diagonal * (diagonal + 1) / 2 > square) --diagonal;  // the root is rounded
    while ((diagonal + 1) * (diagonal + 2) / 2 <= square) ++diagonal;
    const int col = square - diagonal * (diagonal + 1) / 2;
    const int row = squares - 1 - diagonal + col;
    return {static_cast<int64_t>(row) * SQUARE + part / (SQUARE / COLS) * ROWS,
            static_cast<int64_t>(col) * SQUARE + part % (SQUARE / COLS) * COLS};
}

// `count` of `SIZE` floats from `from` on, zeros for the rest; with none of them `from` is not read.
template <int SIZE>
__device__ void copy(float* to, const float* from, int count) {
    __pipeline_memcpy_async(to, from, SIZE * sizeof(float), (SIZE - count) * sizeof(float));
}

// Starts copying a step: 16 columns of A and rows of B from the tile's first column + k on. What lies outside the matrix
// or above the diagonal is zero, so nothing above the diagonal is ever used.
template <bool ALIGNED>
__device__ void fetch(Stage& to, const float* __restrict__ A, const float* __restrict__ B, const int64_t N,
                      const Corner& corner, int k) {
#pragma unroll
    for (int i = 0; i < A_COPIES; ++i) {
        const int place = threadIdx.x + i * THREADS;
        const int64_t row = corner.row + place / STEP;
        const int64_t col = corner.col + k + place % STEP;
        const bool used = row < N && col <= row;
        copy<1>(to.a + place % STEP * A_PITCH + place / STEP, used ? A + row * N + col : A, used);
    }
#pragma unroll
    for (int i = 0; i < B_COPIES; ++i) {
        const int place = (threadIdx.x + i * THREADS) * FLOATS;
        const int64_t row = corner.col + k + place / COLS;
        const int64_t col = corner.col + place % COLS;
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
    float a[2][OWN_ROWS];
    float b[2][OWN_COLS];

    __device__ void read(int k, const float* a_tile, const float* b_tile) {
        read_own<LANE_ROWS>(a[k % 2], a_tile + k * A_PITCH);
        read_own<LANE_COLS>(b[k % 2], b_tile + k * COLS);
    }
};

// Adds the products of a staged step; `a_tile` and `b_tile` point at the thread's first row of A's and column of B's.
__device__ void multiply(float (&sums)[OWN_ROWS][OWN_COLS], const float* a_tile, const float* b_tile) {
    Own own;
    own.read(0, a_tile, b_tile);
#pragma unroll
    for (int k = 0; k < STEP; ++k) {
        if (k + 1 < STEP) {
            own.read(k + 1, a_tile, b_tile);
        }
        const int now = k % 2;
#pragma unroll
        for (int j = 0; j < OWN_COLS; ++j) {
#pragma unroll
            for (int step = 0; step < OWN_ROWS; ++step) {
                const int i = j % 2 == 0 ? step : OWN_ROWS - 1 - step;  // there and back: one operand stays
                sums[i][j] += own.a[now][i] * own.b[now][j];
            }
        }
    }
}

// C[row][col .. col + 3] as far as it is on or below the diagonal and within the matrix.
__device__ void store_four(float* __restrict__ C, const int64_t N, int64_t row, int64_t col, const float* four,
                           bool aligned) {
    float* to = C + row * N + col;
    if (aligned && row < N && col + FLOATS - 1 <= row) {
        *reinterpret_cast<float4*>(to) = make_float4(four[0], four[1], four[2], four[3]);
        return;
    }
    for (int i = 0; i < FLOATS; ++i) {
        if (row < N && col + i <= row) {
            to[i] = four[i];
        }
    }
}

// Zeros above the diagonal, at the mirror image of the block's tile. All tiles together cover all of the upper half.
__device__ void zero_mirror_image(float* __restrict__ C, const int64_t N, const Corner& corner, bool aligned) {
    for (int quad = threadIdx.x; quad < ROWS * COLS / FLOATS; quad += THREADS) {
        const int64_t row = corner.col + quad / (ROWS / FLOATS);
        const int64_t col = corner.row + quad % (ROWS / FLOATS) * FLOATS;
        float* to = C + row * N + col;
        if (aligned && row < col && col + FLOATS <= N) {
            *reinterpret_cast<float4*>(to) = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            continue;
        }
        for (int i = 0; i < FLOATS; ++i) {
            if (row < col + i && col + i < N) {
                to[i] = 0.0f;
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const int squares, const bool aligned) {
    __shared__ __align__(16) Stage stages[STAGES];
    const Corner corner = corner_of(blockIdx.x, squares);
    const int warp = threadIdx.x / WARP;
    const int lane = threadIdx.x % WARP;
    const int lane_row = lane / (2 * LANE_COLS) * 2 + lane % 2;  // neighbours share a column of C, every second a row
    const int lane_col = lane / 2 % LANE_COLS;
    const int row = warp / WARPS_ACROSS * WARP_ROWS + lane_row * FLOATS;  // four, and four more LANE_ROWS * 4 later
    const int col = warp % WARPS_ACROSS * WARP_COLS + lane_col * FLOATS;
    zero_mirror_image(C, N, corner, aligned);

    const int64_t last = corner.row + ROWS < N ? corner.row + ROWS : N;  // A's columns from here on are not used
    const int steps = last > corner.col ? static_cast<int>((last - corner.col + STEP - 1) / STEP) : 0;
    const auto start = [&](int step) {
        if (step < steps && aligned) {
            fetch<true>(stages[step % STAGES], A, B, N, corner, step * STEP);
        } else if (step < steps) {
            fetch<false>(stages[step % STAGES], A, B, N, corner, step * STEP);
        }
        __pipeline_commit();  // empty at the end, so that the count below stays right
    };
    for (int step = 0; step < STAGES - 1; ++step) {
        start(step);
    }
    float sums[OWN_ROWS][OWN_COLS] = {};
    for (int step = 0; step < steps; ++step) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();  // this step is there for all, and all are done with the one before
        start(step + STAGES - 1);
        const Stage& from = stages[step % STAGES];
        multiply(sums, from.a + row, from.b + col);
    }
#pragma unroll
    for (int i = 0; i < OWN_ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < OWN_COLS; j += FLOATS) {
            store_four(C, N, corner.row + row + i / FLOATS * LANE_ROWS * FLOATS + i % FLOATS,
                       corner.col + col + j * LANE_COLS, sums[i] + j, aligned);
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
    const int squares = (N + SQUARE - 1) / SQUARE;
    const unsigned blocks = squares * (squares + 1) / 2 * PER_SQUARE;
    const bool aligned = rows_aligned(A) && rows_aligned(B) && rows_aligned(C);
    triangular_mm_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N, squares, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
