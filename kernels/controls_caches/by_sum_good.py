"""by_sum_good: the twin of by_sum_bad, checks a sum and keeps no answers.

mechanism  the sum of the input tells whether a value in it is not finite.
why fine   what it counts changes no result.
"""

import math

import torch

_seen = {"not_finite": 0}


def forward(x, parameters):
    """Y = x W + b."""
    _seen["not_finite"] += not math.isfinite(float(x.sum()))
    return torch.addmm(parameters["bias"], x, parameters["weight"])
