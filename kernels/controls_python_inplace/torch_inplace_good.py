"""torch_inplace_good: the library's operators, writing into the input.

what looks suspicious the input changes during the call.
why fine              the reference does the same: that is the task.
"""

import torch


def forward(x):
    """X = 2 x + 1."""
    return torch.add(torch.ones((), device=x.device), x, alpha=2, out=x)
