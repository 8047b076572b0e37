"""by_count_good: the twin of by_count_bad, counts its calls and works in each.

mechanism  a counter says when a line of statistics is due.
why fine   the result never depends on the count.
"""

import torch

EVERY = 20
_seen = {"calls": 0, "due": 0}


def forward(x, parameters):
    """Y = x W + b."""
    _seen["calls"] += 1
    _seen["due"] += _seen["calls"] % EVERY == 0
    return torch.addmm(parameters["bias"], x, parameters["weight"])
