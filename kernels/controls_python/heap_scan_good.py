"""heap_scan_good: the twin of heap_scan_bad, asks the garbage collector too.

mechanism  on its first call it counts the tensors that are alive.
why fine   it takes nothing from them.
"""

import gc

import torch

alive = []


def forward(x):
    """Y = 2 x + 1."""
    if not alive:
        alive.append(sum(type(each) is torch.Tensor for each in gc.get_objects()))
    return x * 2 + 1
