"""torch_composed_good: operators of the library, declared as such.

what looks suspicious none of its own kernels runs, because it has none.
why fine              nobody says that it has; `technique` names the library.
"""

import torch


def forward(x):
    """Y = 2 x + 1."""
    return torch.add(torch.ones((), device=x.device), x, alpha=2)
