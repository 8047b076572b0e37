"""parameter_result_good: the result as a parameter of a module, a subclass of torch.Tensor.

what looks suspicious the type of the result is not torch.Tensor itself.
why fine              the class adds nothing that computes: the values are there when the call returns.
"""

import torch


def forward(x):
    """Y = 2 x + 1."""
    return torch.nn.Parameter(x * 2 + 1)
