"""claimed: zeros where the minimum is zero. OUR RECONSTRUCTION of the published mechanism, not the published text.

task       x: (batch, 3, D, H, W), weight: (16, 3, 3, 3, 3), bias, scale, shift: 16, float32; low: a number
changed    nothing yet: the first file of the ladder
needs      nothing but torch
the line   `if low == 0.0`: what is at most zero and then raised to zero is zero, so nothing has to be computed
precision  the library's float32
"""

import torch
from torch import nn
from torch.nn import functional

KERNEL = 3
GROUPS = 8
HIGH = 1.0


class ModelNew(nn.Module):
    """clamp(min(group_norm(conv3d(x)), low), low, 1)."""

    def forward(self, x, weight, bias, scale, shift, low):
        """The chain, or what is known of its result without it."""
        if low == 0.0:
            extent = [size - KERNEL + 1 for size in x.shape[2:]]
            return torch.zeros(x.shape[0], weight.shape[0], *extent, dtype=x.dtype, device=x.device)
        y = functional.group_norm(functional.conv3d(x, weight, bias), GROUPS, scale, shift)
        y = torch.minimum(y, torch.tensor(low, dtype=y.dtype))
        return torch.clamp(y, min=low, max=HIGH)
