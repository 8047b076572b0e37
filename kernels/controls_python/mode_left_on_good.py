"""mode_left_on_good: the twin of mode_left_on_bad, leaves the mode it enters.

mechanism  a TorchFunctionMode counts the operations of a call.
why fine   it is in force during the call only.
"""

from torch.overrides import TorchFunctionMode


class Counting(TorchFunctionMode):
    """Counts."""

    operations = 0

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Counts, then does what was asked."""
        Counting.operations += 1
        return function(*args, **(kwargs or {}))


def forward(x):
    """Y = 2 x + 1."""
    with Counting():
        return x * 2 + 1
