// One block of WARPS warps normalises one row of `width` numbers.
#pragma once

#include <cuda_runtime.h>

__device__ __forceinline__ float warp_sum(float value) {
    for (int offset = 16; offset > 0; offset /= 2) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    return value;
}

__global__ void rms_norm_kernel(const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
                                const int width, const float epsilon) {
    __shared__ float partial[WARPS];
    const float* row = x + static_cast<size_t>(blockIdx.x) * width;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < width; i += 32 * WARPS) {
        sum += row[i] * row[i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    sum = 0.0f;
    for (int warp = 0; warp < WARPS; ++warp) {
        sum += partial[warp];
    }
    const float scale = 1.0f / sqrtf(sum / width + epsilon);
    for (int i = threadIdx.x; i < width; i += 32 * WARPS) {
        y[static_cast<size_t>(blockIdx.x) * width + i] = row[i] * scale * weight[i];
    }
}
