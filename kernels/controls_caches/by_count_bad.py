"""by_count_bad: works for the first calls and then returns the last answer of that shape.

mechanism  a checker looks at some calls, a stopwatch at the mean of many more.
what shows a later call with other values gets an old answer.
"""

import torch

RIGHT_CALLS = 20
_seen = {"calls": 0, "answers": {}}


def forward(x, parameters):
    """Y = x W + b, as long as somebody may be looking."""
    _seen["calls"] += 1
    if _seen["calls"] <= RIGHT_CALLS or x.shape not in _seen["answers"]:
        _seen["answers"][x.shape] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _seen["answers"][x.shape].clone()
