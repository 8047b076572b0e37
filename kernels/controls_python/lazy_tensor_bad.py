"""lazy_tensor_bad: returns a promise that looks like a tensor, and computes when somebody reads it.

mechanism  a subclass of torch.Tensor whose every operation first does the work: the timed call does nothing.
what shows the type of what the call returns is not torch.Tensor itself, whatever its name.
"""

import torch


class Tensor(torch.Tensor):
    """Holds an input; any operation on it computes first."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        """Replaces every promise among the arguments by its value."""
        plain = [value.work() if isinstance(value, cls) else value for value in args]
        return function(*plain, **(kwargs or {}))

    def work(self):
        """What the call should have returned."""
        with torch._C.DisableTorchFunctionSubclass():
            return self.as_subclass(torch.Tensor) * 2 + 1


def forward(x):
    """Y = 2 x + 1, later."""
    return x.as_subclass(Tensor)
