"""Attack: leaves with exit code 0 before it has answered, as a process that has finished does.
Wall: a session has finished only when its own last message came
Outcome: contract error: the process ended itself with exit code 0
"""

import os

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    os._exit(0)
