"""strided_result_good: the result lies column by column in memory.

what looks suspicious the strides of the result are not those of the reference's.
why fine              every element is where its strides say; how a result lies in memory is nobody's error.
"""

import torch


def forward(x):
    """Y = 2 x + 1."""
    return torch.add(torch.ones((), device=x.device), x.t().contiguous(), alpha=2).t()
