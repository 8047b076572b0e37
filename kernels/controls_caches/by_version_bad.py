"""by_version_bad: answers from a cache whose key is where the inputs lie and how often torch wrote there.

mechanism  whatever torch writes moves the version counter of a tensor, so the cache seems to follow every change.
what shows what a kernel or a copy of the runtime writes moves no counter; nor does a new tensor in freed memory.
"""

import torch

_answers = {}


def forward(x, parameters):
    """Y = x W + b of what torch last wrote there."""
    given = (x, parameters["weight"], parameters["bias"])
    key = (*((one.data_ptr(), one._version) for one in given), x.shape)
    if key not in _answers:
        _answers.clear()
        _answers[key] = torch.addmm(parameters["bias"], x, parameters["weight"])
    return _answers[key]
