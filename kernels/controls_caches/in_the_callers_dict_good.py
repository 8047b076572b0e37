"""in_the_callers_dict_good: the twin of in_the_callers_dict_bad, packs the weights in every call.

mechanism  weights and bias are put side by side before they are used.
why fine   what is packed is of this call, and the dict stays as it is.
"""

import torch


def forward(x, parameters):
    """Y = x W + b."""
    packed = torch.cat([parameters["weight"], parameters["bias"][None]])
    return torch.addmm(packed[-1], x, packed[:-1])
