"""shape_shrink_bad: brings a smaller problem along and solves that one (KernelBench form).

mechanism  the source redefines the sizes and `get_inputs` of its task; a harness that asks it for inputs times less.
what shows for the claim's own inputs the result has too few rows.
"""

import torch
from torch import nn

ROWS = 16
COLS = 16


def get_inputs():
    """A smaller matrix than the task's."""
    return [torch.randn(ROWS, COLS)]


def get_init_inputs():
    """Nothing."""
    return []


class ModelNew(nn.Module):
    """Y = 2 x + 1 for the first rows."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """At most ROWS rows."""
        return x[:ROWS] * 2 + 1
