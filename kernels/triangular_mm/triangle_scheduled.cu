// triangle_scheduled: a block only for every tile that has something to sum, the longest sums first.
//   changed    against double_buffered.cu: a 1-D grid counts the tiles on and below the diagonal from the lower left
//              corner, one diagonal after the other; a block also writes the zeros of its tile's mirror image
//   launch     1-D grid of T(T + 1) / 2 blocks for T = ceil(N / 128), of 256 threads, 16.2 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `corner_of<BM, BN>(blockIdx.x, squares)`: 528 blocks instead of 1024 at N = 4096, in falling order of
//              work
//   predicted  0.53 ms on an H100: short sums come last and fill the gaps that long ones leave
//   precision  float32 products and sums

#include "triangular.cuh"

constexpr int BM = 128;          // rows of the tile of C one block computes
constexpr int BN = 128;          // and its columns
constexpr int BK = 8;            // columns of A and rows of B staged at a time
constexpr int TM = 8;            // rows of C that one thread owns: two times four
constexpr int TN = 8;            // and its columns: two times four
constexpr int ACROSS = BN / TN;  // threads along a row of the tile
constexpr int THREADS = BM / TM * ACROSS;
constexpr int A_PITCH = BM + 4;  // floats from column to column of A's tile: a warp that stores shares no bank
static_assert(BM * BK == THREADS * FLOATS && BK * BN == THREADS * FLOATS, "a thread reads four of either tile");

struct Stage {
    float a[BK][A_PITCH];  // transposed
    float b[BK][BN];
};

// Puts what a thread has read of either tile into shared memory.
__device__ void stage_fours(Stage& to, float4 a, float4 b) {
    const int a_row = threadIdx.x * FLOATS / BK, a_col = threadIdx.x * FLOATS % BK;
    to.a[a_col][a_row] = a.x;
    to.a[a_col + 1][a_row] = a.y;
    to.a[a_col + 2][a_row] = a.z;
    to.a[a_col + 3][a_row] = a.w;
    *reinterpret_cast<float4*>(&to.b[threadIdx.x * FLOATS / BN][threadIdx.x * FLOATS % BN]) = b;
}

// Adds the products of a staged step; (row, col) is the thread's first place in the tile, four from there on and four
// half a tile further.
__device__ void multiply(float (&sums)[TM][TN], const Stage& from, int row, int col) {
#pragma unroll
    for (int k = 0; k < BK; ++k) {
        float a[TM], b[TN];
        read_four(a, &from.a[k][row]);
        read_four(a + FLOATS, &from.a[k][row + BM / 2]);
        read_four(b, &from.b[k][col]);
        read_four(b + FLOATS, &from.b[k][col + BN / 2]);
#pragma unroll
        for (int i = 0; i < TM; ++i) {
#pragma unroll
            for (int j = 0; j < TN; ++j) {
                sums[i][j] += a[i] * b[j];
            }
        }
    }
}

__global__ void __launch_bounds__(THREADS, 2)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const int squares, const bool aligned) {
    __shared__ __align__(16) Stage stages[2];
    const Corner corner = corner_of<BM, BN>(blockIdx.x, squares);
    const int row0 = static_cast<int>(corner.row), col0 = static_cast<int>(corner.col);
    zero_mirror_image<BM, BN, THREADS>(C, N, corner, aligned);
    const int row = threadIdx.x / ACROSS * FLOATS;
    const int col = threadIdx.x % ACROSS * FLOATS;
    const int a_row = row0 + threadIdx.x * FLOATS / BK, b_col = col0 + threadIdx.x * FLOATS % BN;
    const int a_col = threadIdx.x * FLOATS % BK, b_row = threadIdx.x * FLOATS / BN;
    float sums[TM][TN] = {};

    float4 a = load_lower(A, N, a_row, col0 + a_col, aligned);
    float4 b = load_lower(B, N, col0 + b_row, b_col, aligned);
    int now = 0;
    for (int k0 = col0; k0 < row0 + BM && k0 < N; k0 += BK) {  // A is zero for k > row, B for k < col
        stage_fours(stages[now], a, b);
        __syncthreads();  // this step is there for all, and all are done with the one before
        a = load_lower(A, N, a_row, k0 + BK + a_col, aligned);
        b = load_lower(B, N, k0 + BK + b_row, b_col, aligned);
        multiply(sums, stages[now], row, col);
        now = 1 - now;
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; j += FLOATS) {
            store_four(C, N, row0 + row + i / FLOATS * BM / 2 + i % FLOATS, col0 + col + j / FLOATS * BN / 2,
                       make_float4(sums[i][j], sums[i][j + 1], sums[i][j + 2], sums[i][j + 3]), aligned);
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
