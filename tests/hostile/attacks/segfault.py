"""Attack: reads at address 0.
Wall: the judge's process holds no claimed code
Outcome: contract error: SIGSEGV
"""

import ctypes

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    ctypes.string_at(0)
    return x * 2
