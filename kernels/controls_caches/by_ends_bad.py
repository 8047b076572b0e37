"""by_ends_bad: answers from the last call's answer where both ends of every tensor are still the same.

mechanism  a cache of one entry; its key is the first and the last element of each tensor.
what shows a change between the ends, right behind the values it was made from, gets the old answer.
"""

import torch

_last = {}


def forward(x, parameters):
    """Y = x W + b of the last inputs with these ends."""
    given = (x, parameters["weight"], parameters["bias"])
    key = tuple(float(one.reshape(-1)[place]) for one in given for place in (0, -1))
    if _last.get("key") != key:
        _last["answer"] = torch.addmm(parameters["bias"], x, parameters["weight"])
        _last["key"] = key
    return _last["answer"].clone()
