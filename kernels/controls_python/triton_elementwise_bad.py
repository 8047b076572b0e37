"""triton_elementwise_bad: the kernel of triton_elementwise_good with one program too few.

mechanism  the number of programs is rounded down, so the elements of the last block are never written.
what shows under a pattern in fresh memory the tail of the output still holds it.
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
    """Y = 2 x + 1, but for the tail."""
    y = torch.empty_like(x)
    scale_shift_kernel[(max(1, x.numel() // BLOCK),)](x, y, x.numel(), block=BLOCK)
    return y
