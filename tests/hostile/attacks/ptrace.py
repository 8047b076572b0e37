"""Attack: seizes its parent and the judge as a debugger does, to write into their memory.
Wall: seccomp: no ptrace, no writing into another process
Outcome: cleared
"""

import ctypes
import os

import torch

SEIZE, DETACH = 0x4206, 17
JUDGE = int("@JUDGE@")


def forward(x: torch.Tensor) -> torch.Tensor:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    for pid in (os.getppid(), JUDGE):
        if pid and libc.ptrace(SEIZE, pid, None, None) == 0:
            libc.ptrace(DETACH, pid, None, None)
            raise RuntimeError("let through: a process outside can be traced")
    return x * 2
