"""Attack: opens the kernel's settings for writing: what runs where a program crashes, and the restart key.
Wall: landlock, and a /proc of its own in which the settings of the kernel and of its parent are for reading
Outcome: cleared
"""

import os
from contextlib import suppress

import torch

PLACES = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sysrq-trigger",
    "/proc/1/oom_score_adj",
    "/sys/kernel/uevent_helper",
    "/sys/power/state",
    "/sys/fs/cgroup/cgroup.procs",
)


def forward(x: torch.Tensor) -> torch.Tensor:
    for place in PLACES:
        with suppress(OSError):
            os.close(os.open(place, os.O_WRONLY))
            raise RuntimeError(f"let through: {place}")
    return x * 2
