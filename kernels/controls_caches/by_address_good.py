"""by_address_good: the twin of by_address_bad, remembers addresses and no answers.

mechanism  a set of the addresses it was called with, to count how many different tensors there were.
why fine   the result never depends on it.
"""

import torch

_addresses = set()


def forward(x, parameters):
    """Y = x W + b."""
    _addresses.add((x.data_ptr(), parameters["weight"].data_ptr()))
    return torch.addmm(parameters["bias"], x, parameters["weight"])
