// register_2d: every thread sums TM x TN elements of C in registers.
//   changed    against register_1d.cu: a block computes 128 x 128 of C, a thread 8 x 8 of it: 8 rows, and every 16th
//              column
//   launch     2-D grid of ceil(N / 128) x ceil(N / 128) blocks of 256 threads, 8.125 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `sums[i][j] += a[i] * b[j]`: 16 words from shared memory serve 64 multiply-adds. The compiler merges A's
//              eight reads into two of 16 bytes; B's stay eight: a thread's columns are not neighbours
//   predicted  0.75 ms on an H100, half the peak: reading 16 words a warp takes shared memory 16 clocks, and 64
//              multiply-adds take the four units of a multiprocessor 16 clocks; neither hides the other wholly
//   precision  float32 products and sums

#include "triangular.cuh"

constexpr int BM = 128;          // rows of the tile of C one block computes
constexpr int BN = 128;          // and its columns
constexpr int BK = 8;            // columns of A and rows of B staged at a time
constexpr int TM = 8;            // rows of C that one thread owns
constexpr int TN = 8;            // and its columns, ACROSS apart
constexpr int ACROSS = BN / TN;  // threads along a row of the tile
constexpr int THREADS = BM / TM * ACROSS;
constexpr int A_PITCH = BM + 4;  // floats from column to column of A's tile: 8 columns by 4 rows share no bank
static_assert(BM * BK % THREADS == 0 && BK * BN % THREADS == 0, "no rest");

__global__ void __launch_bounds__(THREADS, 2)  // two blocks a multiprocessor: at most 128 registers a thread
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N) {
    __shared__ float a_tile[BK][A_PITCH];  // transposed
    __shared__ float b_tile[BK][BN];
    const int row0 = (gridDim.y - 1 - blockIdx.y) * BM;  // the rows with the longest sums start first
    const int col0 = blockIdx.x * BN;
    const int row = threadIdx.x / ACROSS * TM;
    const int col = threadIdx.x % ACROSS;
    float sums[TM][TN] = {};

    for (int k0 = col0; k0 < row0 + BM && k0 < N; k0 += BK) {  // A is zero for k > row, B for k < col
        for (int i = threadIdx.x; i < BM * BK; i += THREADS) {
            a_tile[i % BK][i / BK] = load_one(A, N, row0 + i / BK, k0 + i % BK);
        }
        for (int i = threadIdx.x; i < BK * BN; i += THREADS) {
            b_tile[i / BN][i % BN] = load_one(B, N, k0 + i / BN, col0 + i % BN);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < BK; ++k) {
            float a[TM], b[TN];
#pragma unroll
            for (int i = 0; i < TM; ++i) {
                a[i] = a_tile[k][row + i];
            }
#pragma unroll
            for (int j = 0; j < TN; ++j) {
                b[j] = b_tile[k][col + j * ACROSS];
            }
#pragma unroll
            for (int i = 0; i < TM; ++i) {
#pragma unroll
                for (int j = 0; j < TN; ++j) {
                    sums[i][j] += a[i] * b[j];
                }
            }
        }
        __syncthreads();  // before the next step overwrites the tiles
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) {
            const int to_row = row0 + row + i;
            const int to_col = col0 + col + j * ACROSS;
            if (to_row < N && to_col < N) {
                C[to_row * N + to_col] = to_col <= to_row ? sums[i][j] : 0.0f;
            }
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
