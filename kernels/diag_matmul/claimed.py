"""claimed: the diagonal matrix is never built. OUR RECONSTRUCTION of the published mechanism, not the published text.

task       a: N, b: N x M, float32; c: N x M
changed    nothing yet: the first file of the ladder
needs      nothing but torch
the line   `a.unsqueeze(1) * b`: N·M products in place of N·N·M, all but N·M of which are with zeros
precision  float32, one product an element
"""

import torch
from torch import nn


class ModelNew(nn.Module):
    """C = diag(a)·B."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """Each row of b times its element of a."""
        return a.unsqueeze(1) * b
