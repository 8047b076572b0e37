"""Folders that belong to one living process: where an audit writes its results, and its temporary files.

The lock is flock(2)'s on the folder itself: nothing is written for it, and it ends with the process, however that ends.
"""

from __future__ import annotations

import errno
import fcntl
import itertools
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from audit.model.errors import BadInput

PREFIX = "audit-run-"
"""Temporary folders of this name are locked by their owner while it lives; who finds one unlocked removes it."""
LOOK_S = 0.1
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""What a full or read-only file system answers."""


@contextmanager
def room(where: Path) -> Iterator[None]:
    """Says in one sentence that a file system was full, or could not be written, in the body. Raises BadInput: it was;
    `where` is named where the system names no file."""
    try:
        yield
    except OSError as error:
        if error.errno not in FULL:
            raise
        named = error.filename or where
        raise BadInput(f"{named}: cannot be written ({error.strerror}); make room and run it again") from error


class Hold:
    """The lock on an existing folder of results; taken again in the same process, it passes on: a cell may be run
    twice. `descriptor` holds it, also where another process has a copy; None where there are no locks. Raises BadInput
    where another process has it, and does not give it back within `patience_s`."""

    _mine: dict[Path, Hold] = {}  # noqa: RUF012  # by folder, of this process

    def __init__(self, folder: Path, *, patience_s: float = 0.0) -> None:
        self._folder = folder.resolve()
        if self._folder in self._mine:
            self._mine[self._folder].close()
        self.descriptor: int | None = _opened(folder)
        try:
            _lock(self.descriptor, patience_s)
        except BlockingIOError:
            self.close()
            raise BadInput(f"{folder}: another audit is writing there; choose another folder or wait for it") from None
        except OSError:  # a file system without locks: owners cannot be distinguished there
            self.close()
        else:
            self._mine[self._folder] = self

    def close(self) -> None:
        """Give the folder back."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None
            self._mine.pop(self._folder, None)


def _lock(descriptor: int, patience_s: float) -> None:
    deadline = time.monotonic() + patience_s
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise
            time.sleep(LOOK_S)


class Scratch:
    """A temporary folder for one audit; `path` is empty at first. What dead owners left is removed before. Raises
    BadInput if there is no room for one."""

    def __init__(self) -> None:
        while True:
            try:
                clear_abandoned()
                self.path = Path(tempfile.mkdtemp(prefix=PREFIX))
            except OSError as error:
                raise BadInput(
                    f"no temporary folder can be made ({error.strerror}); set TMPDIR to a folder with room"
                ) from error
            with suppress(FileNotFoundError):  # somebody took it for abandoned before it was open
                self._descriptor = _opened(self.path)
                fcntl.flock(self._descriptor, fcntl.LOCK_EX)
                if self.path.is_dir():  # nor before it was locked
                    return
                os.close(self._descriptor)

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the folder; what cannot be removed is left to the next audit."""
        with suppress(OSError):
            remove(self.path)
        with suppress(OSError):  # closed before
            os.close(self._descriptor)
        self._descriptor = -1


def is_free(file: Path) -> bool:
    """Return whether no process holds the lock on that file. Raises OSError where there is no file."""
    with file.open("r+b") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def clear_abandoned() -> None:
    """Remove this user's temporary folders whose owner is dead."""
    for path in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        with suppress(OSError):  # somebody else's, or gone meanwhile
            if path.lstat().st_uid == os.geteuid():
                _clear(path)


def _clear(path: Path) -> None:
    descriptor = _opened(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        remove(path)
    finally:
        os.close(descriptor)


def remove(folder: Path) -> None:
    """Remove a folder and all in it, however deep and whatever its rights; follows no link. Claimed code writes into
    such folders: shutil.rmtree is recursive, and a thousand levels end it, or a closed one."""
    with suppress(OSError, RecursionError):
        shutil.rmtree(folder)
    if folder.is_dir():
        _lift_and_remove(folder)


def _lift_and_remove(folder: Path) -> None:
    """Move what is two levels down to the top until nothing is: no path grows long, and no function calls itself."""
    lifted, mark = itertools.count(), secrets.token_hex(8)
    folder.chmod(0o700)
    while inside := list(os.scandir(folder)):
        for entry in inside:
            if not entry.is_dir(follow_symlinks=False):
                Path(entry).unlink()
                continue
            Path(entry).chmod(0o700)
            for deeper in list(os.scandir(entry)):
                if deeper.is_dir(follow_symlinks=False):
                    Path(deeper).chmod(0o700)  # its own rights decide whether it may be moved
                    Path(deeper).rename(folder / f"{mark}{next(lifted)}")
                else:
                    Path(deeper).unlink()
            Path(entry).rmdir()
    folder.rmdir()


def _opened(folder: Path) -> int:
    return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
