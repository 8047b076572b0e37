"""dropped_bias_good: the twin of dropped_bias_bad, reads both of its parameters.

mechanism  the same parameters, drawn in the same order.
why fine   both are used.
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    """Scale and shift of `features` columns."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.bias = nn.Parameter(torch.randn(features))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """One fused operator of the library."""
        return torch.addcmul(self.bias, x, self.weight)
