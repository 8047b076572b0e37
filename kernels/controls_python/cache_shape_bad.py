"""cache_shape_bad: answers from a cache whose key is the shape of the input (KernelBench form).

mechanism  the module keeps the answer of the first call of each shape.
what shows other values of a known shape get the old answer, at whatever address.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    """Y = 2 x + 1 of the first input of each shape."""

    def __init__(self):
        super().__init__()
        self.answers = {}

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Looks the shape up."""
        if x.shape not in self.answers:
            self.answers[x.shape] = x * 2 + 1
        return self.answers[x.shape].clone()
