"""by_sum_bad: answers from a cache whose key is the sum of each tensor.

mechanism  a sum reads every element, so that each change of one of them is seen.
what shows elements that change places leave every sum as it is.
"""

import torch

_answers = {}


def forward(x, parameters):
    """Y = x W + b of the first inputs with these sums."""
    key = tuple(float(one.sum()) for one in (x, parameters["weight"], parameters["bias"]))
    if key not in _answers:
        _answers[key] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[key].clone()
