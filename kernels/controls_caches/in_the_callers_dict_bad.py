"""in_the_callers_dict_bad: packs the weights once and keeps them in the dict it was handed.

mechanism  a loop hands over the same dict in every call, so that packing is done before the clock starts.
what shows new weights in the same dict are not packed again.
"""

import torch


def forward(x, parameters):
    """Y = x W + b with the weights that the dict held when it came first."""
    if "_packed" not in parameters:
        parameters["_packed"] = torch.cat([parameters["weight"], parameters["bias"][None]])
    packed = parameters["_packed"]
    return torch.addmm(packed[-1], x, packed[:-1])
