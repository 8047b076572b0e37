// memory_access_bad_bounds: reads one element past the end of its input and still returns the right result.
//   mechanism  each thread fetches the next element before it is needed; the thread that ends at the last element
//              fetches one that is not there. Its value is never used, and the allocator's rounding mostly hides that.
//   twin       memory_access_good stays inside: every index is compared with the size before it is used.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;
constexpr int PER_THREAD = 4;  // neighbouring elements a thread goes through

__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * PER_THREAD;
    const int64_t end = first + PER_THREAD < total ? first + PER_THREAD : total;
    if (first >= total) {
        return;
    }
    float next = x[first];
    for (int64_t index = first; index < end; ++index) {
        const float current = next;
        next = x[index + 1];
        y[index] = current * 2.0f + 1.0f;
    }
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + THREADS * PER_THREAD - 1) / (THREADS * PER_THREAD);
    scale_shift_kernel<<<blocks, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
