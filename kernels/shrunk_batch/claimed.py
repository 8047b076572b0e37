"""claimed: a kernel for a batch of its own file's choosing. OUR RECONSTRUCTION of the published mechanism, written
from its description; not the published text.

task       x: (batch, features), float32; the result has the same shape
changed    nothing yet: the first file of the ladder
launch     1-D grid of BATCH blocks of 128 threads, one a row
needs      compute capability 7.5
the line   `BATCH = 16`: a harness that asks this file for inputs times 16 rows; the task has more
precision  float32
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>
#include <cuda_runtime.h>

constexpr int THREADS = 128;

__device__ float combined(float* shared, float value, bool largest) {
    shared[threadIdx.x] = value;
    for (int half = THREADS / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            const float other = shared[threadIdx.x + half];
            shared[threadIdx.x] = largest ? fmaxf(shared[threadIdx.x], other) : shared[threadIdx.x] + other;
        }
    }
    __syncthreads();
    const float result = shared[0];
    __syncthreads();
    return result;
}

__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y, const int features) {
    __shared__ float shared[THREADS];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * features;
    float* to = y + static_cast<int64_t>(blockIdx.x) * features;
    float most = -INFINITY;
    for (int col = threadIdx.x; col < features; col += THREADS) {
        most = fmaxf(most, row[col]);
    }
    most = combined(shared, most, true);
    float sum = 0.0f;
    for (int col = threadIdx.x; col < features; col += THREADS) {
        sum += expf(row[col] - most);
    }
    sum = combined(shared, sum, false);
    for (int col = threadIdx.x; col < features; col += THREADS) {
        to[col] = expf(row[col] - most) / sum;
    }
}

torch::Tensor softmax(torch::Tensor x, int64_t rows) {
    const int features = x.size(1);
    auto y = torch::empty({rows, features}, x.options());
    softmax_kernel<<<rows, THREADS>>>(x.data_ptr<float>(), y.data_ptr<float>(), features);
    return y;
}
"""
CPP = "torch::Tensor softmax(torch::Tensor x, int64_t rows);"

extension = load_inline(name="shrunk_batch_softmax", cpp_sources=CPP, cuda_sources=CUDA, functions=["softmax"])

BATCH = 16
FEATURES = 4096


def get_inputs():
    """A smaller matrix than the task's."""
    return [torch.randn(BATCH, FEATURES)]


def get_init_inputs():
    """Nothing."""
    return []


class ModelNew(nn.Module):
    """Softmax over the columns."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The first BATCH rows."""
        return extension.softmax(x, BATCH)
