// kernels_ran_good_table: looks as if nothing of the source were launched, since no launch names its kernel.
//   why fine   a table, a generic lambda, cudaLaunchKernelEx and cudaLaunchKernel each reach one of the two kernels, for
//              a third of the elements.

#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 64;

__global__ void narrow_kernel(const float* x, float* y, const int64_t size) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < size) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

__global__ void strided_kernel(const float* x, float* y, const int64_t size) {
    const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; index < size; index += step) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

using Kernel = void (*)(const float*, float*, int64_t);

unsigned blocks_for(const int64_t size) {
    return static_cast<unsigned>(size / THREADS + 1);
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const Kernel table[] = {narrow_kernel, strided_kernel};
    const int64_t third = x.numel() / 3;
    const float* from = x.data_ptr<float>();
    float* to = y.data_ptr<float>();

    const auto launch = [&](auto kernel, const int64_t start) {
        kernel<<<blocks_for(third), THREADS>>>(from + start, to + start, third);
    };
    launch(table[third % 2], 0);

    cudaLaunchConfig_t configuration = {};
    configuration.gridDim = dim3(blocks_for(third));
    configuration.blockDim = dim3(THREADS);
    cudaLaunchKernelEx(&configuration, table[1], from + third, to + third, third);

    from += 2 * third;
    to += 2 * third;
    int64_t size = x.numel() - 2 * third;
    void* arguments[] = {&from, &to, &size};
    cudaLaunchKernel((const void*)narrow_kernel, dim3(blocks_for(size)), dim3(THREADS), arguments, 0, 0);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("forward", &forward, "y = 2 x + 1 for a float32 matrix");
}
