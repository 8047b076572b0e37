"""cache_shape_good: the twin of cache_shape_bad, keeps scratch memory by shape and no values (KernelBench form).

mechanism  the module has a dictionary keyed by shape, device and type.
why fine   what it keeps is scratch that every call overwrites whole; the result is a tensor of its own.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    """Y = 2 x + 1 through a scratch buffer."""

    def __init__(self):
        super().__init__()
        self.scratch = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Doubles into scratch, adds one into the result."""
        key = (x.shape, x.device, x.dtype)
        if key not in self.scratch:
            self.scratch[key] = torch.empty_like(x)
        torch.mul(x, 2, out=self.scratch[key])
        return self.scratch[key] + 1
