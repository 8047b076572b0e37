// Kernels of which a part is run: a grid of blocks that each write a row, one that adds into its result, none at all.
#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void row_kernel(const float* x, float* y, int cols) {
    for (int col = threadIdx.x; col < cols; col += blockDim.x) y[blockIdx.x * cols + col] = 2.0f * x[blockIdx.x * cols + col];
}

__global__ void sum_kernel(const float* x, float* y, int cols) {
    for (int col = threadIdx.x; col < cols; col += blockDim.x) atomicAdd(y, x[blockIdx.x * cols + col]);
}

__global__ void half_kernel(const at::Half* x, at::Half* y, int cols) {
    if (blockIdx.x % 2 == 0) y[threadIdx.x * gridDim.x + blockIdx.x] = x[threadIdx.x * gridDim.x + blockIdx.x];
}

torch::Tensor rows(torch::Tensor x, bool zeros) {
    auto y = zeros ? torch::zeros_like(x) : torch::empty_like(x);
    row_kernel<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

torch::Tensor sum(torch::Tensor x) {
    auto y = torch::zeros({1}, x.options());
    sum_kernel<<<x.size(0), 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

torch::Tensor halves(torch::Tensor x) {
    auto y = torch::zeros_like(x);
    half_kernel<<<x.size(1), x.size(0)>>>(x.data_ptr<at::Half>(), y.data_ptr<at::Half>(), x.size(1));
    return y;
}

torch::Tensor wraps(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int bytes = static_cast<int>(x.size(0)) * static_cast<int>(x.size(1)) * 4;
    row_kernel<<<bytes / 32768, 128>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("rows", &rows);
    m.def("sum", &sum);
    m.def("halves", &halves);
    m.def("wraps", &wraps);
}
