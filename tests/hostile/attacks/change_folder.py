"""Attack: goes to another folder and leaves a rights mask with which nobody can read what is written.
Wall: a session has a process of its own, and its outputs are written to names that hold anywhere
Outcome: cleared
"""

import os

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    os.chdir("/")
    os.umask(0o177)
    return x * 2
