"""Attack: puts its own functions in the place of those that bring a tensor to the host and lay it out.
Wall: methods of torch that outputs are read with were taken before claimed code came; a replaced one is seen
Outcome: untouched_process fail: torch.Tensor.cpu
"""

import torch

plain = torch.Tensor.cpu


def forward(x: torch.Tensor) -> torch.Tensor:
    torch.Tensor.cpu = lambda tensor, *_: plain(tensor) * 0
    torch.Tensor.contiguous = lambda tensor, *_: tensor
    return x * 2
