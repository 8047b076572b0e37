"""by_shape_bad: answers from a cache whose key is the shape of the input.

mechanism  the module keeps the answer of the first call of each shape.
what shows other values of a known shape get the old answer, at whatever address.
"""

import torch

_answers = {}


def forward(x, parameters):
    """Y = x W + b of the first inputs of each shape."""
    if x.shape not in _answers:
        _answers[x.shape] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[x.shape].clone()
