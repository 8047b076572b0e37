"""Files that are replaced in one step: a reader sees the old one or the new one, and a killed writer leaves the old."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


def write(path: Path, data: bytes) -> None:
    """Replace `path` once the bytes are on the disk; its folder is made. Raises OSError: it cannot be written. What was
    there stays, and nothing is left beside it."""
    waiting = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with waiting.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        waiting.replace(path)
    finally:
        with suppress(OSError):  # it has taken the other's place; if not, something broke off, Ctrl-C perhaps
            waiting.unlink()


def clear(path: Path) -> None:
    """Remove the files that killed writers began beside `path`; no other process may be writing it."""
    for waiting in path.parent.glob(f".{path.name}.*"):
        waiting.unlink()
