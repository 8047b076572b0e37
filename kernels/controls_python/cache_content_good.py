"""cache_content_good: the twin of cache_content_bad, keeps what depends on the size alone.

mechanism  a dictionary keyed by shape and type holds a tensor that later calls use.
why fine   the tensor is the constant one, which no input changes.
"""

import torch

_ones = {}


def forward(x):
    """Y = 2 x + 1."""
    key = (tuple(x.shape[-1:]), x.dtype, x.device)
    if key not in _ones:
        _ones[key] = torch.ones(x.shape[-1:], dtype=x.dtype, device=x.device)
    return torch.add(_ones[key], x, alpha=2)
