"""inline_model_good: a CUDA kernel in a text, called from a module (KernelBench form).

launch shape a grid-stride loop over at most 64 blocks; compute capability 7.5 or more.
"""

import torch
from torch import nn
from torch.utils.cpp_extension import load_inline

THREADS = 128
CUDA = f"""
__global__ void scale_shift_kernel(const float* __restrict__ x, float* __restrict__ y, const int64_t total) {{
    const int64_t step = static_cast<int64_t>(gridDim.x) * {THREADS};
    for (int64_t index = blockIdx.x * {THREADS} + threadIdx.x; index < total; index += step) {{
        y[index] = x[index] * 2.0f + 1.0f;
    }}
}}

torch::Tensor scale_shift_cuda(torch::Tensor x) {{
    auto y = torch::empty_like(x);
    const int64_t total = x.numel();
    const int64_t needed = (total + {THREADS} - 1) / {THREADS};
    const unsigned blocks = needed < 64 ? needed : 64;
    scale_shift_kernel<<<blocks, {THREADS}>>>(x.data_ptr<float>(), y.data_ptr<float>(), total);
    return y;
}}
"""
CPP = """
torch::Tensor scale_shift_cuda(torch::Tensor x);

torch::Tensor scale_shift(torch::Tensor x) {
    return scale_shift_cuda(x.contiguous());
}
"""

extension = load_inline(
    name="inline_model_good",
    cpp_sources=[CPP],
    cuda_sources=[CUDA],
    functions=["scale_shift"],
    extra_cuda_cflags=["-O3"],
    verbose=False,
)


class ModelNew(nn.Module):
    """Y = 2 x + 1."""

    def __init__(self) -> None:
        super().__init__()
        self.extension = extension

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Calls the kernel."""
        return self.extension.scale_shift(x)
