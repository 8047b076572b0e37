// current_stream_good: the twin of current_stream_bad_*.
//   mechanism  launches on a non-blocking stream of its own, as current_stream_bad_side.
//   why fine   that stream waits for the current one before, and the current one waits for it after the launch.

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

constexpr int THREADS = 256;

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    static cudaStream_t side = nullptr;
    static cudaEvent_t before = nullptr;
    static cudaEvent_t after = nullptr;
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&before, cudaEventDisableTiming);
        cudaEventCreateWithFlags(&after, cudaEventDisableTiming);
    }
    const cudaStream_t current = at::cuda::getCurrentCUDAStream();
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    cudaEventRecord(before, current);
    cudaStreamWaitEvent(side, before, 0);
    scale_shift_kernel<<<blocks, THREADS, 0, side>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    cudaEventRecord(after, side);
    cudaStreamWaitEvent(current, after, 0);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
