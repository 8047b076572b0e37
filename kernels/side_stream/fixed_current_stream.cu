// fixed_current_stream: the claimed kernel where its caller works.
//   changed    against ablation_join.cu: no stream of its own; inputs are checked, the launch is checked for errors
//   launch     2-D grid of ceil(N / 16) x ceil(M / 16) blocks of 16 x 16 threads, on the current stream
//   needs      compute capability 7.5
//   the line   `<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>`
//   precision  float32 products and sums; relative error about 1e-6

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime.h>

constexpr int BLOCK = 16;  // threads along each side of a block

__global__ void product_kernel(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C,
                               const int M, const int K, const int N) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= M || col >= N) {
        return;
    }
    float sum = 0.0f;
    for (int k = 0; k < K; ++k) {
        sum += A[static_cast<int64_t>(row) * K + k] * B[static_cast<int64_t>(k) * N + col];
    }
    C[static_cast<int64_t>(row) * N + col] = sum;
}

void check_inputs(const torch::Tensor& A, const torch::Tensor& B) {
    TORCH_CHECK(A.is_cuda() && A.device() == B.device(), "A and B must be on one GPU");
    TORCH_CHECK(A.scalar_type() == torch::kFloat32 && B.scalar_type() == torch::kFloat32, "A and B must be float32");
    TORCH_CHECK(A.dim() == 2 && B.dim() == 2 && A.size(1) == B.size(0), "A and B cannot be multiplied");
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    check_inputs(A, B);
    const c10::cuda::CUDAGuard guard(A.device());
    A = A.contiguous();
    B = B.contiguous();
    const int M = A.size(0), K = A.size(1), N = B.size(1);
    auto C = torch::empty({M, N}, A.options());
    const dim3 threads(BLOCK, BLOCK);
    const dim3 blocks((N + BLOCK - 1) / BLOCK, (M + BLOCK - 1) / BLOCK);
    product_kernel<<<blocks, threads, 0, at::cuda::getCurrentCUDAStream()>>>(A.data_ptr<float>(), B.data_ptr<float>(),
                                                                             C.data_ptr<float>(), M, K, N);
    C10_CUDA_KERNEL_LAUNCH_CHECK();
    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = A * B");
}
