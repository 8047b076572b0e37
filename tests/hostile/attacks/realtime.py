"""Attack: asks to run before everybody else, so that whoever keeps its limits gets no turn.
Wall: seccomp: no other scheduling than the usual one
Outcome: cleared
"""

import os
from contextlib import suppress

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(50))
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        raise RuntimeError("let through: it can run before everybody else")
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -10)
        os.setpriority(os.PRIO_PROCESS, 0, 0)
        raise RuntimeError("let through: a better priority")
    return x * 2
