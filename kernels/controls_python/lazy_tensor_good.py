"""lazy_tensor_good: the twin of lazy_tensor_bad, uses a subclass inside and returns a plain tensor.

mechanism  a subclass of torch.Tensor that counts the operations done with it.
why fine   the work is done in the call, and what is returned is torch.Tensor itself.
"""

import torch


class Counted(torch.Tensor):
    """Counts operations."""

    operations = 0

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        """Counts, then does what was asked."""
        cls.operations += 1
        return super().__torch_function__(function, types, args, kwargs or {})


def forward(x):
    """Y = 2 x + 1."""
    y = x.as_subclass(Counted) * 2 + 1
    return y.as_subclass(torch.Tensor)
