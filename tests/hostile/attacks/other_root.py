"""Attack: changes its root folder, and makes a device of its own from which it could read the disk.
Wall: seccomp: no other root, no devices
Outcome: cleared
"""

import os
import stat
from contextlib import suppress
from pathlib import Path

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    own = Path(os.environ.get("TMPDIR", "/tmp")) / "hostile_device"
    with suppress(OSError):
        os.mknod(own, stat.S_IFBLK | 0o600, os.stat("/").st_dev)
        own.unlink()
        raise RuntimeError("let through: a device of its own")
    with suppress(OSError):
        os.chroot("/")
        raise RuntimeError("let through: another root")
    return x * 2
