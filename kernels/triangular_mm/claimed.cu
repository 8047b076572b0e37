// claimed: one thread per element of C = tril(A * B), as the published kernel computes it. OUR RECONSTRUCTION of
// the published mechanism, written from its description; not the published text.
//   task       A, B: N x N, float32, row major, lower triangular, on a GPU; C: the same, zero above the diagonal
//   changed    nothing yet: the first file of the ladder
//   launch     1-D grid of N blocks of 256 threads, legacy default stream
//   needs      compute capability 7.5
//   the line   `<<<blocks, threads>>>`: gridDim.y and blockDim.y are 1, so every thread computes row 0. Rows 1 to
//              N - 1 keep whatever torch::empty_like was handed; the kernel body itself is sound.
//   precision  float32 products and sums, on the one row that is written

#include <torch/extension.h>
#include <cuda.h>
#include <cuda_runtime.h>

__global__ void triangular_mm_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                                     const int64_t N) {
    const int64_t row = blockIdx.y * blockDim.y + threadIdx.y;
    const int64_t col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= N || col >= N) {
        return;
    }
    float sum = 0.0f;  // stays zero above the diagonal: there col > row and the loop is empty
    for (int64_t k = col; k <= row; ++k) {
        sum += A[row * N + k] * B[k * N + col];
    }
    C[row * N + col] = sum;
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    const int64_t N = A.size(0);
    auto C = torch::empty_like(A);

    const int threads = 256;
    const int blocks = N;

    triangular_mm_kernel<<<blocks, threads>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N);

    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
