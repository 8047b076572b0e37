"""Attack: puts its own function under the name by which the kit takes results over, and computes there.
Wall: a source that reaches the process that checks it is not cleared
Outcome: reach error: sys.modules
"""

import sys

import torch

outputs = sys.modules["audit.run.calls.outputs"]
plain = outputs._detach
pending: dict[int, torch.Tensor] = {}


def completed(tensor: torch.Tensor) -> torch.Tensor:
    x = pending.pop(tensor.data_ptr(), None)
    return plain(tensor if x is None else tensor.copy_(x * 2))


outputs._detach = completed


def forward(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    pending[y.data_ptr()] = x.clone()
    return torch.nn.Parameter(y, requires_grad=False)
