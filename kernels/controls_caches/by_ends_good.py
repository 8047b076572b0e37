"""by_ends_good: the twin of by_ends_bad, keeps the ends of the last inputs and no answer.

mechanism  the first and the last element of the last input are kept, to count how often they changed.
why fine   the result never depends on it.
"""

import torch

_last = {"ends": None, "changes": 0}


def forward(x, parameters):
    """Y = x W + b."""
    ends = (float(x.reshape(-1)[0]), float(x.reshape(-1)[-1]))
    _last["changes"] += ends != _last["ends"]
    _last["ends"] = ends
    return torch.addmm(parameters["bias"], x, parameters["weight"])
