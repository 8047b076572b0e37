"""by_timer_good: the twin of by_timer_bad, knows how much memory is in use and computes for every call.

mechanism  it adds up the bytes of large tensors in the process, to say what it had to work beside.
why fine   the result never depends on it.
"""

import gc

import torch

LARGE_BYTES = 32 << 20
EVERY = 50
_seen = {"calls": 0, "large": 0}


def forward(x, parameters):
    """Y = x W + b."""
    if _seen["calls"] % EVERY == 0:
        tensors = [one for one in gc.get_objects() if type(one) is torch.Tensor]
        _seen["large"] = sum(one.nbytes for one in tensors if one.nbytes >= LARGE_BYTES)
    _seen["calls"] += 1
    return torch.addmm(parameters["bias"], x, parameters["weight"])
