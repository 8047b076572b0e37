"""by_pattern_good: the twin of by_pattern_bad, counts how often values come and computes for every call.

mechanism  a few values are counted, to say how many sets of inputs took turns.
why fine   the result never depends on the counts.
"""

import torch

SAMPLED = 8
_seen = {}


def forward(x, parameters):
    """Y = x W + b."""
    key = (x.shape, *x.reshape(-1)[:SAMPLED].tolist())
    _seen[key] = _seen.get(key, 0) + 1
    return torch.addmm(parameters["bias"], x, parameters["weight"])
