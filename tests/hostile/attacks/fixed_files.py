"""Attack: leaves folders nobody may enter and files that even their owner cannot remove.
Wall: capabilities: no session may set such a flag; closed folders are opened and removed
Outcome: cleared
"""

import fcntl
import os
import struct
import tempfile
from contextlib import suppress
from pathlib import Path

import torch

SET_FLAGS, IMMUTABLE = 0x40086602, 0x10


def forward(x: torch.Tensor) -> torch.Tensor:
    closed = Path(tempfile.mkdtemp())
    (closed / "inner").mkdir()
    (closed / "inner/hostile_file").touch()
    (closed / "inner").chmod(0)
    fixed = os.open(closed, os.O_RDONLY)
    with suppress(OSError):
        fcntl.ioctl(fixed, SET_FLAGS, struct.pack("l", IMMUTABLE))
        fcntl.ioctl(fixed, SET_FLAGS, struct.pack("l", 0))
        raise RuntimeError("let through: a folder that cannot be removed")
    closed.chmod(0)
    return x * 2
