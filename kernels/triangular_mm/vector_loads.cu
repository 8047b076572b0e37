// vector_loads: four floats a read and a store, from and to global and shared memory.
//   changed    against register_2d.cu: a thread reads 16 bytes of either tile at once, and its 8 rows and 8 columns are
//              two times four neighbours, so 4 reads of shared memory replace 16 and 16 stores of C replace 64
//   launch     2-D grid of ceil(N / 128) x ceil(N / 128) blocks of 256 threads, 8.125 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `read_four(a, &from.a[k][row])` in vector_tiles.cuh: one instruction for four words.
//              The 4 reads take 6 passes, counted there; the compiler left register_2d 10 reads of its 16
//   predicted  0.62 ms on an H100: 6 clocks of shared memory for 16 of multiply-adds; what is left is the wait for
//              global memory in every step, which the second block of a multiprocessor hides in part
//   precision  float32 products and sums

#include "triangular.cuh"
#include "vector_tiles.cuh"

__global__ void __launch_bounds__(THREADS, 2)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const bool aligned) {
    __shared__ __align__(16) Stage stage;
    const int row0 = (gridDim.y - 1 - blockIdx.y) * BM;  // the rows with the longest sums start first
    const int col0 = blockIdx.x * BN;
    const int row = threadIdx.x / ACROSS * FLOATS;
    const int col = threadIdx.x % ACROSS * FLOATS;
    const int a_row = row0 + threadIdx.x * FLOATS / BK, b_col = col0 + threadIdx.x * FLOATS % BN;
    const int a_col = threadIdx.x * FLOATS % BK, b_row = threadIdx.x * FLOATS / BN;
    float sums[TM][TN] = {};

    for (int k0 = col0; k0 < row0 + BM && k0 < N; k0 += BK) {  // A is zero for k > row, B for k < col
        stage_fours(stage, load_lower(A, N, a_row, k0 + a_col, aligned), load_lower(B, N, k0 + b_row, b_col, aligned));
        __syncthreads();
        multiply(sums, stage, row, col);
        __syncthreads();  // before the next step overwrites the tiles
    }
#pragma unroll
    for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; j += FLOATS) {
            store_with_zeros(C, N, row0 + row + i / FLOATS * BM / 2 + i % FLOATS, col0 + col + j / FLOATS * BN / 2,
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
    const bool aligned = rows_aligned(A) && rows_aligned(B) && rows_aligned(C);
    const dim3 blocks((N + BN - 1) / BN, (N + BM - 1) / BM);
    triangular_mm_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N, aligned);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
