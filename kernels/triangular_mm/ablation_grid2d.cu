// ablation_grid2d: claimed.cu with a 2-D grid and nothing else.
//   changed    against claimed.cu: the two launch dimensions (two lines); a block keeps its 256 threads
//   launch     2-D grid of ceil(N / 16) x ceil(N / 16) blocks of 16 x 16 threads, legacy default stream
//   needs      compute capability 7.5
//   the line   `const dim3 blocks(...)`: blockIdx.y and threadIdx.y now vary, so every row is computed.
//   precision  float32 products and sums; relative error about 1e-6 at N = 4096

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

    const dim3 threads(16, 16);
    const dim3 blocks((N + 15) / 16, (N + 15) / 16);

    triangular_mm_kernel<<<blocks, threads>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), N);

    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
