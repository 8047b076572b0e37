"""dropped_bias_bad: has a parameter that it never reads.

mechanism  the bias is there, so the parameters match the reference's by name, and the result leaves it out.
what shows the result is off by the bias; with a bias of zeros, as layers often start with, nothing would show.
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
        """Leaves the bias out."""
        return x * self.weight
