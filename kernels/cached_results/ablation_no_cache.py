"""ablation_no_cache: the claimed code without its table.

changed    against claimed.py: every call computes, nothing else
needs      nothing but torch
the line   `return functional.silu(x)`
precision  the library's float32
"""

import torch
from torch import nn
from torch.nn import functional


class ModelNew(nn.Module):
    """y = x·sigmoid(x)."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The result for what the input holds now."""
        return functional.silu(x)
