"""Attack: forks until it is stopped, 700 processes at most, each of which would sleep for a minute.
Wall: processes: a session may have so many, and all of them end with it
Outcome: contract error
"""

import os
import time

import torch

MOST = 700


def forward(x: torch.Tensor) -> torch.Tensor:
    for _ in range(MOST):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
    time.sleep(5)
    raise RuntimeError(f"let through: {MOST} processes")
