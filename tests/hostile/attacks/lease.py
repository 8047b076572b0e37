"""Attack: takes a lease on each of its files, so that others wait most of a minute when they open it.
Wall: calls: leases are refused
Outcome: cleared
"""

import fcntl
import os
from pathlib import Path

import torch


def forward(x: torch.Tensor) -> torch.Tensor:
    own = Path(os.environ.get("TMPDIR", "/tmp")) / "hostile_leased"
    with own.open("wb") as opened:
        try:
            fcntl.fcntl(opened, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except PermissionError:
            return x * 2
    own.unlink()
    raise RuntimeError("let through: a lease")
