"""by_address_bad: answers from a cache whose key is where the inputs lie.

mechanism  a benchmark calls with the same tensors again and again; their addresses and shapes never change.
what shows new values at the same address get the old answer.
"""

import torch

_answers = {}


def forward(x, parameters):
    """Y = x W + b of what lay there when first asked."""
    key = (x.data_ptr(), parameters["weight"].data_ptr(), parameters["bias"].data_ptr(), x.shape)
    if key not in _answers:
        _answers[key] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[key]
