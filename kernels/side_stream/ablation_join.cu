// ablation_join: the claimed kernel, and the caller's stream waits for it.
//   changed    against claimed.cu: an event behind the kernel, which the current stream waits for, nothing else
//   launch     2-D grid of ceil(N / 16) x ceil(M / 16) blocks of 16 x 16 threads, on a non-blocking stream of its own
//   needs      compute capability 7.5
//   the line   `cudaStreamWaitEvent(current, ready, 0)`
//   precision  float32 products and sums

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
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

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
    static cudaStream_t side = nullptr;
    static cudaEvent_t ready = nullptr;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&ready, cudaEventDisableTiming);
    }
    const int M = A.size(0), K = A.size(1), N = B.size(1);
    auto C = torch::empty({M, N}, A.options());
    const cudaStream_t current = at::cuda::getCurrentCUDAStream();
    cudaEventRecord(ready, current);
    cudaStreamWaitEvent(side, ready, 0);  // the inputs are there

    const dim3 threads(BLOCK, BLOCK);
    const dim3 blocks((N + BLOCK - 1) / BLOCK, (M + BLOCK - 1) / BLOCK);
    product_kernel<<<blocks, threads, 0, side>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(), M, K,
                                                 N);
    cudaEventRecord(ready, side);
    cudaStreamWaitEvent(current, ready, 0);  // and so is the result

    return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "C = A * B");
}
