"""by_version_good: the twin of by_version_bad, counts writes and keeps no answers.

mechanism  version counters tell how often torch wrote into the inputs since the last call.
why fine   the result never depends on it.
"""

import torch

_versions = {}


def forward(x, parameters):
    """Y = x W + b."""
    written = x._version - _versions.get(x.data_ptr(), 0)
    _versions[x.data_ptr()] = x._version + 0 * written
    return torch.addmm(parameters["bias"], x, parameters["weight"])
