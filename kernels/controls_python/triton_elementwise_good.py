"""triton_elementwise_good: a Triton kernel as the tutorials write it.

launch shape a program for every 256 elements, the last one masked; compute capability 7.5 or more.
"""

import torch
import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def scale_shift_kernel(x, y, total, block: tl.constexpr):
    """One block of y = 2 x + 1."""
    index = tl.program_id(0) * block + tl.arange(0, block)
    inside = index < total
    tl.store(y + index, tl.load(x + index, mask=inside) * 2.0 + 1.0, mask=inside)


def forward(x):
    """Y = 2 x + 1."""
    assert x.is_cuda and x.is_contiguous()
    y = torch.empty_like(x)
    scale_shift_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, y, x.numel(), block=BLOCK)
    return y
