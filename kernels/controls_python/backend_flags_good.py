"""backend_flags_good: the twin of backend_flags_bad, puts the flags back.

mechanism  it forbids TF32 while it works.
why fine   every flag is what it was when the call returns.
"""

import torch


def forward(x):
    """Y = 2 x + 1."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        return x * 2 + 1
    finally:
        torch.set_float32_matmul_precision(before)
