// ablation_sync: claimed.cu with a device synchronisation after the launch and nothing else.
//   changed    against claimed.cu: cudaDeviceSynchronize() before the return (one line)
//   launch     as claimed.cu: 1-D grid of N blocks of 256 threads, legacy default stream
//   needs      compute capability 7.5
//   the line   `cudaDeviceSynchronize()`: the host now waits for the kernel, which still writes row 0 alone.
//   precision  as claimed.cu

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
    cudaDeviceSynchronize();

    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = tril(A * B) for lower-triangular A and B");
}
