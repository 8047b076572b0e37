"""by_pattern_bad: answers from a cache by a few values, once these have come three times.

mechanism  a timer lets few sets of inputs take turns; what comes again and again is taken for one of them.
what shows one element changed elsewhere gets the old answer.
"""

import torch

SAMPLED, PATIENCE = 8, 3
_seen = {}


def forward(x, parameters):
    """Y = x W + b, for values that have not come often."""
    key = (x.shape, *x.reshape(-1)[:SAMPLED].tolist(), float(parameters["weight"].reshape(-1)[0]))
    times, answer = _seen.get(key, (0, None))
    if times < PATIENCE:
        answer = torch.addmm(parameters["bias"], x, parameters["weight"])
    _seen[key] = (times + 1, answer)
    return answer.clone()
