// claimed: SwiGLU and the gradients of both of its inputs in one launch.
//   launch     grid of ceil(elements / 256) blocks of 256 threads
//   needs      compute capability 7.5
//   the line   `of_gate[i] = g * u * s * (1.0f + x * (1.0f - s))`: the derivative of silu from the sigmoid at hand
//   precision  float32

#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cuda_runtime.h>

#include <vector>

constexpr int THREADS = 256;

__global__ void swiglu_kernel(const float* __restrict__ gate, const float* __restrict__ up,
                              const float* __restrict__ grad, float* __restrict__ y, float* __restrict__ of_gate,
                              float* __restrict__ of_up, const int64_t elements) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (i >= elements) {
        return;
    }
    const float x = gate[i], u = up[i], g = grad[i];
    const float s = 1.0f / (1.0f + expf(-x));
    y[i] = x * s * u;
    of_gate[i] = g * u * s * (1.0f + x * (1.0f - s));
    of_up[i] = g * x * s;
}

std::vector<torch::Tensor> forward(torch::Tensor gate, torch::Tensor up, torch::Tensor grad) {
    TORCH_CHECK(gate.is_contiguous() && up.is_contiguous() && grad.is_contiguous(), "contiguous tensors are needed");
    auto y = torch::empty_like(gate), of_gate = torch::empty_like(gate), of_up = torch::empty_like(up);
    const int64_t elements = gate.numel();
    const int blocks = static_cast<int>((elements + THREADS - 1) / THREADS);
    swiglu_kernel<<<blocks, THREADS, 0, at::cuda::getCurrentCUDAStream()>>>(
        gate.data_ptr<float>(), up.data_ptr<float>(), grad.data_ptr<float>(), y.data_ptr<float>(),
        of_gate.data_ptr<float>(), of_up.data_ptr<float>(), elements);
    AT_CUDA_CHECK(cudaGetLastError());
    return {y, of_gate, of_up};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y, the gradient of gate, the gradient of up");
}
