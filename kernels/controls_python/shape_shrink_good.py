"""shape_shrink_good: the twin of shape_shrink_bad, brings inputs of its own and does not depend on them.

mechanism  the source has a small `get_inputs` for trying it out.
why fine   the module takes whatever size it is given.
"""

import torch
from torch import nn


def get_inputs():
    """A small matrix."""
    return [torch.randn(16, 16)]


def get_init_inputs():
    """Nothing."""
    return []


class ModelNew(nn.Module):
    """Y = 2 x + 1."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """All rows."""
        return x * 2 + 1
