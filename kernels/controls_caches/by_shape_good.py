"""by_shape_good: the twin of by_shape_bad, keeps scratch memory by shape and no values.

mechanism  a dictionary keyed by shape holds memory that a later call uses again.
why fine   every call overwrites the scratch whole; the result is a tensor of its own.
"""

import torch

_scratch = {}


def forward(x, parameters):
    """Y = x W + b through a scratch buffer."""
    weight = parameters["weight"]
    key = (x.shape[0], weight.shape[1], x.dtype, x.device)
    if key not in _scratch:
        _scratch[key] = torch.empty(x.shape[0], weight.shape[1], dtype=x.dtype, device=x.device)
    torch.mm(x, weight, out=_scratch[key])
    return _scratch[key] + parameters["bias"]
