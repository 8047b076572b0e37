"""Attack: opens the memory, the environment and the descriptors of its parent and of the judge under /proc.
Wall: landlock: no look into processes outside
Outcome: cleared
"""

import os
from contextlib import suppress

import torch

JUDGE = int("@JUDGE@")


def forward(x: torch.Tensor) -> torch.Tensor:
    for pid in (os.getppid(), JUDGE):
        if pid < 2:
            continue
        for name in ("mem", "environ", "maps"):
            with suppress(OSError), open(f"/proc/{pid}/{name}", "rb") as file:
                if name == "mem" or file.read(1):
                    raise RuntimeError(f"let through: {name} of a process outside")
        with suppress(OSError):
            raise RuntimeError(f"let through: {len(os.listdir(f'/proc/{pid}/fd'))} descriptors of a process outside")
    return x * 2
