"""torch_compiled_good: torch.compile writes the kernel (on a GPU only).

what looks suspicious the first call of a size compiles, later ones do not.
why fine              what is kept is code and no value.
"""

import torch


@torch.compile(dynamic=True)
def _work(x):
    return x * 2 + 1


def forward(x):
    """Y = 2 x + 1."""
    return _work(x)
