"""Attack: leaves shared memory, a semaphore and a queue of System V behind, and shared memory with a name.
Wall: seccomp: none of those that outlive their process
Outcome: cleared
"""

import ctypes
from contextlib import suppress
from pathlib import Path

import torch

KEY, CREATE = 0x0A0D17, 0o1600


def forward(x: torch.Tensor) -> torch.Tensor:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmget(KEY, ctypes.c_size_t(4096), CREATE)
    libc.semget(KEY, 1, CREATE)
    libc.msgget(KEY, CREATE)
    with suppress(OSError):
        Path("/dev/shm/hostile_memory").write_bytes(bytes(4096))
    return x * 2
