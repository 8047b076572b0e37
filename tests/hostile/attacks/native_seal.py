"""Attack: opens the kit's own native library again by its path and has it run a session of the attack's own.
Wall: the library is the same one, in the midst of a session: it raises the alarm
Outcome: channel error: a session was started within a session
"""

import ctypes
from pathlib import Path

import torch

KIND = ctypes.CFUNCTYPE(ctypes.c_int)


def forward(x: torch.Tensor) -> torch.Tensor:
    mapped = {
        line.partition("/")[1] + line.partition("/")[2] for line in Path("/proc/self/maps").read_text().split("\n")
    }
    for path in sorted(one for one in mapped if one.endswith("libseal.so")):
        ctypes.CDLL(path).seal_hold(KIND(lambda: 0))
    return x * 2
