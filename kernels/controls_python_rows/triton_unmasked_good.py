"""triton_unmasked_good: whole blocks are read without a mask, the rest of a row with one.

launch shape a program for every row; compute capability 7.5 or more.
why fine     a block without a mask ends before the row does.
"""

import torch
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def row_sum_kernel(x, y, cols, block: tl.constexpr):
    """The sum of one row: its whole blocks, then the rest."""
    row, whole = tl.program_id(0), cols // block * block
    total = tl.zeros((block,), dtype=tl.float32)
    for start in range(0, whole, block):
        total += tl.load(x + row * cols + start + tl.arange(0, block))
    index = whole + tl.arange(0, block)
    total += tl.load(x + row * cols + index, mask=index < cols, other=0.0)
    tl.store(y + row, tl.sum(total, axis=0))


def forward(x):
    """The sum of every row."""
    y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    row_sum_kernel[(x.shape[0],)](x, y, x.shape[1], block=BLOCK)
    return y
