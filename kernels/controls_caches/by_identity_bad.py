"""by_identity_bad: returns the last answer where it is called with the same tensor object.

mechanism  a benchmark's loop hands over one object again and again.
what shows new values in the same object get the old answer.
"""

import torch

_last = {"x": None, "weight": None, "answer": None}


def forward(x, parameters):
    """Y = x W + b of what these objects held when first seen."""
    if _last["x"] is not x or _last["weight"] is not parameters["weight"]:
        _last.update(x=x, weight=parameters["weight"])
        _last["answer"] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _last["answer"]
