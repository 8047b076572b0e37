"""The user's cache of compiled things: content-named folders, each made by one process while the others wait."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """$AUDIT_CACHE, or `audit` in $XDG_CACHE_HOME, or ~/.cache/audit."""
    if own := os.environ.get("AUDIT_CACHE"):
        return Path(own)
    shared = os.environ.get("XDG_CACHE_HOME")
    return (Path(shared) if shared else Path.home() / ".cache") / "audit"


def fingerprint(parts: Iterable[str | bytes]) -> str:
    """24 hexadecimal digits naming the parts and their borders."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()[:24]


def made(folder: Path, make: Callable[[Path], None]) -> bool:
    """Have `make` fill a folder, once. It works in a temporary one which is then renamed: none is ever half full.

    Returns:
        Whether the folder was there already. Of two processes that ask at once, one makes and the other waits.
    """
    if folder.is_dir():
        return True
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder.with_name(folder.name + ".lock")):
        if folder.is_dir():
            return True
        unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}.", dir=folder.parent))
        try:
            make(unfinished)
            unfinished.chmod(0o755)
            unfinished.rename(folder)
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    return False


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
