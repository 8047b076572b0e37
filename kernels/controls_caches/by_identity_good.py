"""by_identity_good: the twin of by_identity_bad, checks a new object once and computes for every call.

mechanism  shapes are checked where another tensor object comes than in the last call.
why fine   shapes belong to the object; the values are read in every call.
"""

import torch

_last = {"x": None}


def forward(x, parameters):
    """Y = x W + b."""
    if _last["x"] is not x:
        if x.shape[1] != parameters["weight"].shape[0]:
            raise ValueError("the inner sizes differ")
        _last["x"] = x
    return torch.addmm(parameters["bias"], x, parameters["weight"])
