"""Attack: every process forks two, six generations deep, each in a process group of its own, and all stay behind.
Wall: processes: everything a session ever started ends with it
Outcome: cleared
"""

import os
import time

import torch

GENERATIONS = 6


def forward(x: torch.Tensor) -> torch.Tensor:
    if x.numel() == 3 and os.fork() == 0:
        for _ in range(GENERATIONS):
            os.fork()
            os.setpgid(0, 0)
        time.sleep(60)
        os._exit(0)
    return x * 2
