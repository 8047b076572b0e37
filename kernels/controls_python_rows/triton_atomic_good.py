"""triton_atomic_good: programs share a row and add their parts atomically.

what looks suspicious two calls differ in their last bits, since the order of the additions is anybody's.
why fine              any order of a float32 sum is within the tolerance, and the output starts at zero.
"""

import torch
import triton
import triton.language as tl

BLOCK = 64


@triton.jit
def row_part_kernel(x, y, cols, block: tl.constexpr):
    """Adds the sum of one block of one row to the row's."""
    row, index = tl.program_id(0), tl.program_id(1) * block + tl.arange(0, block)
    part = tl.load(x + row * cols + index, mask=index < cols, other=0.0)
    tl.atomic_add(y + row, tl.sum(part, axis=0))


def forward(x):
    """The sum of every row."""
    y = torch.zeros(x.shape[0], device=x.device, dtype=x.dtype)
    row_part_kernel[(x.shape[0], triton.cdiv(x.shape[1], BLOCK))](x, y, x.shape[1], block=BLOCK)
    return y
