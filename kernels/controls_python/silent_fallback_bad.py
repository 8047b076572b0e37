"""silent_fallback_bad: a kernel that is never reached, because what goes wrong before it is swallowed.

mechanism  it asks its extension for a function that the extension does not have; the handler calls torch instead.
what shows among the kernels of a call none is of this source.
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

extension = load_inline(name="silent_fallback_bad", cpp_sources=CPP, cuda_sources=CUDA, functions=["scale_shift"])


def forward(x):
    """Y = 2 x + 1, by whoever can."""
    try:
        return extension.scale_shift_fast(x)
    except AttributeError:
        return x * 2 + 1
