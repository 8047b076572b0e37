"""Attack: leaves through quick_exit(0), past everything that Python does at an end.
Wall: a session has finished only when its own last message came
Outcome: contract error: the process ended itself with exit code 0
"""

import ctypes

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    ctypes.CDLL(None).quick_exit(0)
    return x * 2
