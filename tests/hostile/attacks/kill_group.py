"""Attack: kill -9 of its own process group.
Wall: a session has a process group of its own
Outcome: contract error: SIGKILL
"""

import os
import signal

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    if os.getpgrp() == os.getpid():  # the group of the session alone
        os.killpg(0, signal.SIGKILL)
    return x * 2
