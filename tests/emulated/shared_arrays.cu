// An index past or before one of two shared arrays, or of one alone.

#include <torch/extension.h>
#include <cuda_runtime.h>

__global__ void one_array(float* out, int place) {
    __shared__ float held[32];
    held[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x == 0 ? place : 0];
}

__global__ void two_arrays(float* out, int place) {
    __shared__ float large[256];
    __shared__ float held[32];
    large[threadIdx.x] = 0.0f;
    held[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x == 0 ? place : 0] + large[0];
}

__global__ void with_dynamic(float* out, int place) {
    extern __shared__ float given[];
    __shared__ float held[32];
    given[threadIdx.x] = 0.0f;
    held[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x == 0 ? place : 0] + given[0];
}

torch::Tensor overrun(int64_t arrays, int64_t place) {
    auto out = torch::zeros({32});
    if (arrays == 1) one_array<<<1, 32>>>(out.data_ptr<float>(), place);
    if (arrays == 2) two_arrays<<<1, 32>>>(out.data_ptr<float>(), place);
    if (arrays == 3) with_dynamic<<<1, 32, 256 * sizeof(float)>>>(out.data_ptr<float>(), place);
    return out;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("overrun", &overrun); }
