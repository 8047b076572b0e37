// register_1d: every thread sums TM elements of one column of C in registers.
//   changed    against shared_tiled.cu: a block computes 64 x 64 of C instead of 32 x 32, and a thread 8 rows of one
//              column instead of 4 columns of one row; A's tile lies transposed, so that a thread's 8 rows are
//              neighbours
//   launch     2-D grid of ceil(N / 64) x ceil(N / 64) blocks of 512 threads, 4.125 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `sums[i] += a_tile[k][row + i] * b`: a word of B serves TM multiply-adds, a word of A one.
//              The compiler merges a thread's eight reads of A into two of 16 bytes
//   predicted  1.9 ms on an H100, no gain: 3 reads of shared memory, two of 16 bytes, for 8 multiply-adds, where
//              shared_tiled has 5 for 16. A column of sums saves reads of B alone
//   precision  float32 products and sums

#include "triangular.cuh"

constexpr int BM = 64;           // rows of the tile of C one block computes
constexpr int BN = 64;           // and its columns
constexpr int BK = 8;            // columns of A and rows of B staged at a time
constexpr int TM = 8;            // rows of C that one thread owns
constexpr int THREADS = BM / TM * BN;
constexpr int A_PITCH = BM + 4;  // floats from column to column of A's tile: 8 columns by 4 rows share no bank
static_assert(BM * BK == THREADS && BK * BN == THREADS, "a thread reads one element of either tile");

__global__ void __launch_bounds__(THREADS)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N) {
    __shared__ __align__(16) float a_tile[BK][A_PITCH];  // transposed; on 16 bytes, so that reads can be merged
    __shared__ float b_tile[BK][BN];
    const int row0 = (gridDim.y - 1 - blockIdx.y) * BM;  // the rows with the longest sums start first
    const int col0 = blockIdx.x * BN;
    const int thread = threadIdx.x;
    const int row = thread / BN * TM;
    const int col = thread % BN;
    float sums[TM] = {};

    for (int k0 = col0; k0 < row0 + BM && k0 < N; k0 += BK) {  // A is zero for k > row, B for k < col
        a_tile[thread % BK][thread / BK] = load_one(A, N, row0 + thread / BK, k0 + thread % BK);
        b_tile[thread / BN][thread % BN] = load_one(B, N, k0 + thread / BN, col0 + thread % BN);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            const float b = b_tile[k][col];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                sums[i] += a_tile[k][row + i] * b;
            }
        }
        __syncthreads();  // before the next step overwrites the tiles
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
        const int to_row = row0 + row + i;
        const int to_col = col0 + col;
        if (to_row < N && to_col < N) {
            C[to_row * N + to_col] = to_col <= to_row ? sums[i] : 0.0f;
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
    const dim3 blocks((N + BN - 1) / BN, (N + BM - 1) / BM);
    triangular_mm_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
