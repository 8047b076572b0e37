"""by_sample_good: the twin of by_sample_bad, looks at a sample and keeps no answers.

mechanism  every 61st element is looked at, to tell how many inputs were zero there.
why fine   the result never depends on it.
"""

import torch

STEP = 61
_seen = {"zeros": 0}


def forward(x, parameters):
    """Y = x W + b."""
    _seen["zeros"] += sum(value == 0 for value in x.reshape(-1)[::STEP].tolist())
    return torch.addmm(parameters["bias"], x, parameters["weight"])
