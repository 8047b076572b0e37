"""by_sample_bad: answers from a cache whose key is a sample of the values.

mechanism  every 61st element of each tensor stands for the whole.
what shows one element changed between the sampled ones gets the old answer.
"""

import torch

STEP = 61
_answers = {}


def forward(x, parameters):
    """Y = x W + b of the first inputs with these elements."""
    given = (x, parameters["weight"], parameters["bias"])
    key = tuple(value for one in given for value in one.reshape(-1)[::STEP].tolist())
    if key not in _answers:
        _answers[key] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[key].clone()
