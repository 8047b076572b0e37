"""silent_fallback_good: the twin of silent_fallback_bad, its kernel does the work for every input it can take.

mechanism  torch stands behind a condition beside the kernel.
why fine   the condition keeps only empty tensors from the kernel, which no launch may have.
"""

from torch.utils.cpp_extension import load_inline

CUDA = """
__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor scale_shift(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const unsigned blocks = (total + 255) / 256;
    scale_shift_kernel<<<blocks, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}
"""
CPP = "torch::Tensor scale_shift(torch::Tensor x);"

extension = load_inline(name="silent_fallback_good", cpp_sources=CPP, cuda_sources=CUDA, functions=["scale_shift"])


def forward(x):
    """Y = 2 x + 1."""
    return extension.scale_shift(x) if x.numel() else x * 2 + 1
