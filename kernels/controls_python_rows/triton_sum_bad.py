"""triton_sum_bad: the kernel of triton_sum_good that stops before the last, partial block.

mechanism  the loop runs over whole blocks only; for columns that are a multiple of the block it is right.
what shows sizes that are no multiple of it come out wrong.
"""

import torch
import triton
import triton.language as tl

BLOCK = 128


@triton.jit
def row_sum_kernel(x, y, cols, block: tl.constexpr):
    """The sum of one row, as far as whole blocks go."""
    row = tl.program_id(0)
    total = tl.zeros((block,), dtype=tl.float32)
    for start in range(0, (cols // block) * block, block):
        index = start + tl.arange(0, block)
        total += tl.load(x + row * cols + index, mask=index < cols, other=0.0)
    tl.store(y + row, tl.sum(total, axis=0))


def forward(x):
    """The sum of every row, but for its tail."""
    y = torch.empty(x.shape[0], device=x.device, dtype=x.dtype)
    row_sum_kernel[(x.shape[0],)](x, y, x.shape[1], block=BLOCK)
    return y
