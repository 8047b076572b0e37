"""triton_autotuned_good: a Triton kernel that tries its configurations on the first call of a size.

what looks suspicious the first call works many times as long as the others.
why fine              what is kept is a configuration and no value; the grid follows from it.
"""

import torch
import triton
import triton.language as tl


@triton.autotune(configs=[triton.Config({"block": 128}), triton.Config({"block": 512})], key=["total"])
@triton.jit
def scale_shift_kernel(x, y, total, block: tl.constexpr):
    """One block of y = 2 x + 1."""
    index = tl.program_id(0) * block + tl.arange(0, block)
    inside = index < total
    tl.store(y + index, tl.load(x + index, mask=inside) * 2.0 + 1.0, mask=inside)


def forward(x):
    """Y = 2 x + 1."""
    y = torch.empty(x.shape, device="cuda", dtype=x.dtype)
    scale_shift_kernel[lambda meta: (triton.cdiv(x.numel(), meta["block"]),)](x, y, x.numel())
    return y
