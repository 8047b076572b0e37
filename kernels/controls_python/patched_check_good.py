"""patched_check_good: the twin of patched_check_bad, has a check of its own under the same name.

mechanism  a function `allclose` in the module, used on the result.
why fine   it is the module's own; torch's stays in place.
"""

import torch


def allclose(y, x):
    """Whether y undoes to x; raises nothing and replaces nothing."""
    return torch.allclose((y - 1) / 2, x, atol=1e-3, equal_nan=True)


def forward(x):
    """Y = 2 x + 1."""
    y = x * 2 + 1
    allclose(y, x)
    return y
