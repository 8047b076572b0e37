// double_buffered: the next step is read while one is multiplied, into the other of two stages.
//   changed    against vector_loads.cu: two stages of shared memory; what a thread reads of the next step waits in
//              registers until its products are done, so one barrier a step is enough and no read is waited for
//   launch     2-D grid of ceil(N / 128) x ceil(N / 128) blocks of 256 threads, 16.25 KiB of shared memory
//   needs      compute capability 7.5
//   the line   `a = load_lower(A, N, a_row, k0 + BK + a_col, aligned)` before `multiply`: used after it
//   predicted  0.57 ms on an H100: the waits of vector_loads, about a tenth
//   precision  float32 products and sums

#include "triangular.cuh"
#include "vector_tiles.cuh"

__global__ void __launch_bounds__(THREADS, 2)
triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, const int64_t N,
                     const bool aligned) {
    __shared__ __align__(16) Stage stages[2];
    const int row0 = (gridDim.y - 1 - blockIdx.y) * BM;  // the rows with the longest sums start first
    const int col0 = blockIdx.x * BN;
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
