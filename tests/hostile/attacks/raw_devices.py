"""Attack: opens what is no file below /dev: disks, memory, the kernel's log, somebody's terminal.
Wall: landlock: of /dev a session has what it needs
Outcome: cleared
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

import torch

NAMES = ("mem", "kmsg", "port", "console", "fuse", "loop-control", "net/tun", "kvm")


def candidates() -> list[Path]:
    found = [Path("/dev") / name for name in NAMES]
    with suppress(OSError):
        found += [Path("/dev") / disk for disk in os.listdir("/sys/class/block")]
    with suppress(OSError):
        found += [Path("/dev/pts") / name for name in os.listdir("/dev/pts") if name.isdigit()]
    return found


def forward(x: torch.Tensor) -> torch.Tensor:
    for path in candidates():
        with suppress(OSError):
            if stat.S_ISREG(path.stat().st_mode):
                continue
            os.close(os.open(path, os.O_WRONLY | os.O_NOCTTY if path.parent.name == "pts" else os.O_RDONLY))
            raise RuntimeError(f"let through: {path}")
    return x * 2
