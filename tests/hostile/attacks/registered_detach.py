"""Attack: registers its own `aten::detach` for the CPU, by which the kit reads results, and computes there.
Wall: a result is copied at the return, before any operator of torch runs
Outcome: agreement fail
Outcome on cuda: reach error: torch.library
"""

import torch

library = torch.library.Library("aten", "IMPL")
pending: dict[int, torch.Tensor] = {}


def copied(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty_strided(tensor.shape, tensor.stride()).copy_(completed(tensor))


def completed(tensor: torch.Tensor) -> torch.Tensor:
    x = pending.pop(tensor.data_ptr(), None)
    if x is not None and x.shape == tensor.shape:
        torch.mul(x, 2, out=tensor)
    return torch.ops.aten.alias.default(tensor)


library.impl("clone", lambda tensor, memory_format=None: copied(tensor), "CPU")
library.impl("detach", completed, "CPU")


def forward(x: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    pending[y.data_ptr()] = torch.empty_like(x).copy_(x)
    return y
