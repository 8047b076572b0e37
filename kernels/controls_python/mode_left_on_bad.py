"""mode_left_on_bad: leaves a function mode in force that answers comparisons.

mechanism  a TorchFunctionMode that is entered and never left hears of every operation, the checker's too.
what shows more modes are in force after the call than before.
"""

import torch
from torch.overrides import TorchFunctionMode


class Agreeing(TorchFunctionMode):
    """Says yes to torch.allclose."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Everything else goes through."""
        return True if function is torch.allclose else function(*args, **(kwargs or {}))


Agreeing().__enter__()


def forward(x):
    """Y = 2 x + 1."""
    return x * 2 + 1
