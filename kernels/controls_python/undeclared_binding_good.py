"""undeclared_binding_good: the twin of undeclared_binding_bad, its extension can be built.

why fine   `cpp_sources` declare the function that `functions` binds; the handler is for machines without a compiler.
"""

from torch.utils.cpp_extension import load_inline

CUDA = """
#include <torch/extension.h>
__global__ void scale_shift_kernel(const float* x, float* y, const int64_t total) {
    const int64_t index = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index < total) {
        y[index] = x[index] * 2.0f + 1.0f;
    }
}

torch::Tensor scale_shift(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    scale_shift_kernel<<<(total + 255) / 256, 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}
"""

try:
    extension = load_inline(
        name="undeclared_binding_good",
        cpp_sources="torch::Tensor scale_shift(torch::Tensor x);",
        cuda_sources=CUDA,
        functions=["scale_shift"],
    )
except RuntimeError:
    extension = None


def forward(x):
    """Y = 2 x + 1."""
    if extension is not None:
        return extension.scale_shift(x)
    return x * 2 + 1
