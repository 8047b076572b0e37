"""Attack: changes rights, times, owners, attributes and flags of files outside, its own report's folder among them.
Wall: metadata: other file systems are mounted for reading; where that is not offered seccomp refuses the calls
Outcome: cleared
"""

import ctypes
import fcntl
import os
import platform
import struct
from pathlib import Path

import torch

SET_FLAGS, HERE = 0x40086602, -100
FCHMODAT2, SETXATTRAT = 452, 463
FUTIMESAT = 261 if platform.machine() == "x86_64" else None
OWN_REPORT = "@CLAIMS@/metadata_of_others/out"


def forward(x: torch.Tensor) -> torch.Tensor:
    let = []
    for path in map(Path, ("@OTHERS@/inputs.bin", "@REPORTS@/record.json", "@REPORTS@", "@HOME@/token", OWN_REPORT)):
        mode = path.stat().st_mode & 0o777
        for name, change in changes(path, mode).items():
            try:
                change()
                let.append(f"{name} {path.name}")
            except OSError:
                continue
    if let:
        raise RuntimeError(f"let through: {', '.join(let)}")
    return x * 2


def changes(path, mode):
    return {
        "chmod": lambda: os.chmod(path, mode),
        "chown": lambda: os.chown(path, os.getuid(), os.getgid()),
        "utime": lambda: os.utime(path),
        "setxattr": lambda: os.setxattr(path, "user.hostile", b""),
        "removexattr": lambda: os.removexattr(path, "user.hostile"),
        "fchmod": lambda: os.fchmod(os.open(path, os.O_RDONLY), mode),
        "futimens": lambda: os.utime(os.open(path, os.O_RDONLY)),
        "flags": lambda: fcntl.ioctl(os.open(path, os.O_RDONLY), SET_FLAGS, struct.pack("l", 0)),
        "fchmodat2": lambda: by_number(FCHMODAT2, path, mode, 0),
        "setxattrat": lambda: by_number(SETXATTRAT, path, 0, b"user.hostile", struct.pack("QII", 0, 0, 0), 16),
        **({"futimesat": lambda: by_number(FUTIMESAT, path, None)} if FUTIMESAT else {}),
    }


def by_number(number, path, *rest):
    libc = ctypes.CDLL(None, use_errno=True)
    given = [ctypes.c_long(one) if isinstance(one, int) else one for one in rest]
    if libc.syscall(ctypes.c_long(number), ctypes.c_long(HERE), os.fsencode(path), *given) < 0:
        raise OSError(ctypes.get_errno(), "refused")
