"""Whose turn it is on a GPU that several audits share: one uses it, the next one builds meanwhile on the processor."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import IO

VARIABLE = "AUDIT_TURN"
"""Names the lock file of the GPU; not set where an audit has its GPU for itself."""
_lock = threading.Lock()
_taken: list[IO[bytes]] = []


def take() -> None:
    """Returns when this process may use the GPU, which is then its own until it ends."""
    path = os.environ.get(VARIABLE)
    with _lock:
        if path and not _taken:
            file = Path(path).open("ab")  # noqa: SIM115  # open, and so locked, as long as the process lives
            fcntl.flock(file, fcntl.LOCK_EX)
            _taken.append(file)
