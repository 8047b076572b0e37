"""torch_sum_good: a product with ones, by the library and declared as such.

what looks suspicious none of its own kernels runs, because it has none; another operator than the reference's.
why fine              nobody says that it has, and the sum is the same.
"""

import torch


def forward(x):
    """The sum of every row."""
    return torch.mv(x, torch.ones(x.shape[1], device=x.device, dtype=x.dtype))
