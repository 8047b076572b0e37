// current_stream_bad_side: works on a stream of its own that nobody waits for.
//   mechanism  a non-blocking stream is not ordered with the stream the inputs come from and the result is read on; a
//              timer on the current stream sees an empty one.
//   twin       current_stream_good has a stream of its own too, joined to the current one by events on both sides.

#include <torch/extension.h>
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
    if (side == nullptr) {
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    }
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS - 1) / THREADS;
    scale_shift_kernel<<<blocks, THREADS, 0, side>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
