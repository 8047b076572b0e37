// register_blocked: the fastest float32 kernel here without tensor cores: 8 x 16 sums in the registers of every thread.
//   changed    against shared_tiled.cu: a block computes 128 x 64 of C and a thread 8 x 16 of it, so a value read from
//              shared memory is used 8 or 16 times; the next step is read into registers while one is multiplied; two
//              slices of the block each take half of the products, so no sum outlasts the rest of the work; warps skip
//              the steps in which their own part is zero; longest sums first; a block also writes the zeros of its
//              mirror image
//   launch     1-D grid of T(T + 1) for T = ceil(N / 128), blocks of 128 threads, 24.5 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `sums[i][j] += a[i] * b[j]`: 128 multiply-adds for 6 reads of shared memory
//   precision  float32 products and sums; relative error about 6e-7 at N = 4096

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int ROWS = 128;                           // of the tile of C one block computes
constexpr int COLS = 64;
constexpr int STEP = 16;                            // columns of A and rows of B staged at a time
constexpr int SLICES = 2;                           // parts of a step; each belongs to other threads
constexpr int BLOCKS_PER_SM = 2;
constexpr int OWN_ROWS = 8;                         // of C, that one thread owns
constexpr int OWN_COLS = 16;
constexpr int FLOATS = 4;                           // elements read and stored in one go
constexpr int WARP = 32;                            // threads in a warp
constexpr int LANE_ROWS = 8;                        // a warp is 8 x 4 threads and owns 64 x 64 of C
constexpr int LANE_COLS = WARP / LANE_ROWS;
constexpr int WARP_ROWS = LANE_ROWS * OWN_ROWS;
constexpr int WARP_COLS = LANE_COLS * OWN_COLS;
constexpr int WARPS_ACROSS = COLS / WARP_COLS;
constexpr int WARPS = ROWS / WARP_ROWS * WARPS_ACROSS;  // in a slice
constexpr int SLICE_THREADS = WARPS * WARP;
constexpr int THREADS = SLICES * SLICE_THREADS;
constexpr int DEPTH = STEP / SLICES;                // products a slice adds in a step
constexpr int ROUND = OWN_ROWS / 2;                 // rows of a thread's sums that change slices at a time
constexpr int A_PITCH = ROWS + 4;                   // floats from column to column of A's tile
constexpr int SQUARE = ROWS > COLS ? ROWS : COLS;   // tiles are handed out by squares of this side
constexpr int PER_SQUARE = SQUARE / ROWS * (SQUARE / COLS);
constexpr int A_ROUNDS = ROWS * STEP / (THREADS * FLOATS);  // times that a thread reads four elements of A in a step
constexpr int B_ROUNDS = STEP * COLS / (THREADS * FLOATS);
static_assert(A_ROUNDS * THREADS * FLOATS == ROWS * STEP && B_ROUNDS * THREADS * FLOATS == STEP * COLS, "no rest");

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

// Four elements from `from` on, of which the first `count` are used and the others are zero.
__device__ float4 load_four(const float* from, int count, bool aligned) {
    if (aligned && count >= FLOATS) {
        return *reinterpret_cast<const float4*>(from);
    }
    float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (count > 0) four.x = from[0];
    if (count > 1) four.y = from[1];
    if (count > 2) four.z = from[2];
    if (count > 3) four.w = from[3];
    return four;
}

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

// Puts what the threads have read into shared memory, A transposed.
__device__ void stage(Stage& to, const float4 (&a)[A_ROUNDS], const float4 (&b)[B_ROUNDS]) {
    float* a_to = to.a + threadIdx.x * FLOATS % STEP * A_PITCH + threadIdx.x * FLOATS / STEP;
#pragma unroll
    for (int i = 0; i < A_ROUNDS; ++i) {
        float* at = a_to + i * (THREADS * FLOATS / STEP);
        at[0] = a[i].x;
        at[A_PITCH] = a[i].y;
        at[2 * A_PITCH] = a[i].z;
        at[3 * A_PITCH] = a[i].w;
    }
#pragma unroll
    for (int i = 0; i < B_ROUNDS; ++i) {
        *reinterpret_cast<float4*>(to.b + (threadIdx.x + i * THREADS) * FLOATS) = b[i];
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

// Adds one slice of a staged step; `a_tile` and `b_tile` point at the thread's first row of A's and column of B's.
__device__ void multiply(float (&sums)[OWN_ROWS][OWN_COLS], const float* a_tile, const float* b_tile) {
#pragma unroll
    for (int k = 0; k < DEPTH; ++k) {
        float a[OWN_ROWS];
        float b[OWN_COLS];
        read_own<LANE_ROWS>(a, a_tile + k * A_PITCH);
        read_own<LANE_COLS>(b, b_tile + k * COLS);
#pragma unroll
        for (int i = 0; i < OWN_ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < OWN_COLS; ++j) {
                sums[i][j] += a[i] * b[j];
            }
        }
    }
}

// Adds the other slices' sums to the first slice's by way of `spare` shared memory, ROUND rows of sums at a time.
__device__ void add_slices(float (&sums)[OWN_ROWS][OWN_COLS], float* spare, int slice, int thread) {
#pragma unroll
    for (int round = 0; round < (SLICES - 1) * OWN_ROWS / ROUND; ++round) {
        const int other = 1 + round / (OWN_ROWS / ROUND);
        const int i0 = round % (OWN_ROWS / ROUND) * ROUND;
        __syncthreads();  // `spare` holds tiles, or the sums of the round before
#pragma unroll
        for (int i = 0; i < ROUND * OWN_COLS; ++i) {
            float& own = sums[i0 + i / OWN_COLS][i % OWN_COLS];
            if (slice == other) spare[i * SLICE_THREADS + thread] = own;
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < ROUND * OWN_COLS; ++i) {
            float& own = sums[i0 + i / OWN_COLS][i % OWN_COLS];
            if (slice == 0) own += spare[i * SLICE_THREADS + thread];
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
    __shared__ __align__(16) Stage stages[2];
    static_assert(SLICES == 1 || sizeof(stages) >= SLICE_THREADS * ROUND * OWN_COLS * sizeof(float), "room for sums");
    const Corner corner = corner_of(blockIdx.x, squares);
    const int thread = threadIdx.x % SLICE_THREADS;
    const int slice = threadIdx.x / SLICE_THREADS;
    const int warp_row = thread / WARP / WARPS_ACROSS * WARP_ROWS;
    const int warp_col = thread / WARP % WARPS_ACROSS * WARP_COLS;
    const int row = warp_row + thread % WARP / LANE_COLS * FLOATS;  // four rows, and four more LANE_ROWS * 4 later
    const int col = warp_col + thread % WARP % LANE_COLS * FLOATS;
    zero_mirror_image(C, N, corner, aligned);

    // From here on rows of A are counted from the tile's first, and columns of A and rows of B from its first column.
    const int below = static_cast<int>(corner.row - corner.col);
    const int a_rows = static_cast<int>(N - corner.row);
    const int b_rows = static_cast<int>(N - corner.col);
    const int whole = aligned && a_rows >= ROWS ? below + 1 : 0;  // A's columns up to here are used in every row
    const int end = below + (a_rows < ROWS ? a_rows : ROWS);
    const float* a_next = A + corner.row * N + corner.col;
    const float* b_next = B + corner.col * N + corner.col;
    float4 a_ahead[A_ROUNDS];
    float4 b_ahead[B_ROUNDS];
    const auto read = [&](int k) {
        if (k >= COLS && k + STEP <= whole) {
            read_ahead<STEP, true>(a_ahead, a_next, N, a_rows, below - k, aligned);
            read_ahead<COLS, true>(b_ahead, b_next, N, b_rows - k, k, aligned);
        } else {
            read_ahead<STEP, false>(a_ahead, a_next, N, a_rows, below - k, aligned);
            read_ahead<COLS, false>(b_ahead, b_next, N, b_rows - k, k, aligned);
        }
        a_next += STEP;
        b_next += STEP * N;
    };
    float sums[OWN_ROWS][OWN_COLS] = {};
    if (end > 0) {
        read(0);
        stage(stages[0], a_ahead, b_ahead);
    }
    int now = 0;
    for (int k = 0; k < end; k += STEP) {
        __syncthreads();  // this step is there for all, and all are done with the one before
        const bool more = k + STEP < end;
        if (more) {
            read(k + STEP);
        }
        const int own = k + slice * DEPTH;
        if (own + DEPTH > warp_col && own < below + warp_row + WARP_ROWS) {
            const Stage& from = stages[now];
            multiply(sums, from.a + slice * DEPTH * A_PITCH + row, from.b + slice * DEPTH * COLS + col);
        }
        now = 1 - now;
        if (more) {
            stage(stages[now], a_ahead, b_ahead);
        }
    }
    add_slices(sums, reinterpret_cast<float*>(stages), slice, thread);
    if (slice == 0) {
#pragma unroll
        for (int i = 0; i < OWN_ROWS; ++i) {
#pragma unroll
            for (int j = 0; j < OWN_COLS; j += FLOATS) {
                store_four(C, N, corner.row + row + i / FLOATS * LANE_ROWS * FLOATS + i % FLOATS,
                           corner.col + col + j * LANE_COLS, sums[i] + j, aligned);
            }
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
