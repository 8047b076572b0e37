"""Files that are replaced in one step: a reader sees the old one or the new one, and a killed writer leaves the old."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from audit.model.errors import BadInput


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


@contextmanager
def writing(place: Path, advice: str) -> Iterator[None]:
    """Say in one sentence that the body could not write to that place. Raises BadInput."""
    try:
        yield
    except OSError as error:
        raise BadInput(f"{place}: cannot be written ({error.strerror}); {advice}") from error


def clear(path: Path) -> None:
    """Remove the files that killed writers began beside `path`; no other process may be writing it."""
    for waiting in path.parent.glob(f".{path.name}.*"):
        waiting.unlink()
