"""Attack: stops its parent, which keeps its time limit; a child that has left the session wakes the parent in 6 s.
Wall: processes: a session does not see those outside, or may send them no signal
Outcome: cleared
"""

import os
import signal
import time
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    parent = os.getppid()
    if parent > 1:
        with suppress(OSError):
            os.kill(parent, 0)
            if os.fork() == 0:
                os.setsid()
                os.kill(parent, signal.SIGSTOP)
                time.sleep(6)
                os.kill(parent, signal.SIGCONT)
                os._exit(0)
            time.sleep(0.3)
            raise RuntimeError("let through: the parent was stopped")
    return x * 2
