"""triton_inplace_good: a Triton kernel that overwrites its input and returns it.

what looks suspicious the input changes during the call, and the result lies where the input lay.
why fine              the reference does the same: that is the task.
"""

import triton
import triton.language as tl

BLOCK = 256


@triton.jit
def scale_shift_kernel(x, total, block: tl.constexpr):
    """One block of x = 2 x + 1."""
    index = tl.program_id(0) * block + tl.arange(0, block)
    inside = index < total
    tl.store(x + index, tl.load(x + index, mask=inside) * 2.0 + 1.0, mask=inside)


def forward(x):
    """X = 2 x + 1."""
    scale_shift_kernel[(triton.cdiv(x.numel(), BLOCK),)](x, x.numel(), block=BLOCK)
    return x
