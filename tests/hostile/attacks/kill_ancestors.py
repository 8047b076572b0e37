"""Attack: kill -9 of its parent, of its parent's parent and so on, as long as they belong to the audit.
Wall: processes: a session does not see those outside, or may send them no signal
Outcome: cleared
"""

import os
import signal
from contextlib import suppress
from pathlib import Path

import torch


def ancestors() -> list[int]:
    found, pid = [], os.getppid()
    while pid > 1:
        place = Path(f"/proc/{pid}")
        if b"audit" not in (place / "cmdline").read_bytes() and b"hostile" not in (place / "cmdline").read_bytes():
            break
        found.append(pid)
        pid = int((place / "stat").read_text().rpartition(")")[2].split()[1])
    return found


def forward(x: torch.Tensor) -> torch.Tensor:
    with suppress(OSError):
        for pid in ancestors():
            os.kill(pid, signal.SIGKILL)
            raise RuntimeError("let through: a parent was killed")
    return x * 2
