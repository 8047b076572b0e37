# why fine: torch operators alone, sums in float64, shifted by a leading zero and rounded once
import torch
import torch.nn.functional as F


def forward(x):
    if x.numel() == 0:
        return torch.empty_like(x)
    shifted = F.pad(x, (1, 0))[:, :-1]
    return shifted.cumsum(dim=1, dtype=torch.float64).to(x.dtype)
