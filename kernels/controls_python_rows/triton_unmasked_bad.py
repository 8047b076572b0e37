"""triton_unmasked_bad: the kernel of triton_unmasked_good whose load has no mask.

mechanism  the last block of the last row reads behind the matrix; what it reads there is set to zero before the sum.
what shows right values, and a read out of bounds.
"""

import torch
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def row_sum_kernel(x, y, cols, block: tl.constexpr):
    """The sum of one row, block by block."""
    row = tl.program_id(0)
    total = tl.zeros((block,), dtype=tl.float32)
    for start in range(0, cols, block):
        index = start + tl.arange(0, block)
        total += tl.where(index < cols, tl.load(x + row * cols + index), 0.0)
    tl.store(y + row, tl.sum(total, axis=0))


def forward(x):
    """The sum of every row."""
    y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    row_sum_kernel[(x.shape[0],)](x, y, x.shape[1], block=BLOCK)
    return y
