"""What a session takes of the machine while it runs, and which bound it is over."""

from __future__ import annotations

import os
import resource
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from audit.sandbox.bounds import GIB, Bounds
from audit.sandbox.tree import descendants

_PROC = Path("/proc")
_LOOK_S, _FILES_S = 0.1, 0.5
_BLOCK = 512  # bytes, the unit of st_blocks
_MIB = 1 << 20


class Usage:
    """Looks at a process's descendants now and then.

    Args:
        bounds: what they may take.
        folders: where they may write.
        prints: the file their standard output goes to.
    """

    def __init__(self, bounds: Bounds, folders: Sequence[str], prints: IO[bytes]) -> None:
        self._bounds, self._folders, self._prints = bounds, folders, prints
        self._own = _resident("self")
        self._there = sum(map(_below, folders))
        self._next_look = self._next_files = 0.0

    def over(self) -> str | None:
        """The first bound they are over, in words; None if there is none, or it is too early to look again."""
        now = time.monotonic()
        if now < self._next_look:
            return None
        self._next_look = now + _LOOK_S
        running = [str(process) for process in descendants()]
        if len(running) > self._bounds.processes:
            return f"ran {len(running)} processes at once; {self._bounds.processes} are allowed"
        return self._memory(running) or self._files(running, now)

    def _memory(self, running: Sequence[str]) -> str | None:
        """Shared pages count once, which takes long to find out: only if it matters."""
        most = self._bounds.memory
        if sum(max(0, _resident(process) - self._own) for process in running) <= most:
            return None
        held = sum(_share(process) for process in running)
        return f"held {held / GIB:.1f} GiB of memory; {most / GIB:.1f} are allowed" if held > most else None

    def _files(self, running: Sequence[str], now: float) -> str | None:
        if os.fstat(self._prints.fileno()).st_size > self._bounds.printed:
            return f"printed more than {self._bounds.printed // _MIB} MiB"
        if now < self._next_files:
            return None
        self._next_files = now + _FILES_S
        written = sum(map(_below, self._folders)) - self._there + sum(map(_nameless, running))
        most = self._bounds.disk
        return (
            f"held {written / GIB:.1f} GiB of bytes on disk; {most / GIB:.1f} are allowed" if written > most else None
        )


def _resident(process: str) -> int:
    """Bytes in memory, pages shared with others included; 0 once it has ended."""
    with suppress(OSError, IndexError, ValueError):
        pages = (_PROC / process / "statm").read_text(encoding="ascii").split()[1]
        return int(pages) * resource.getpagesize()
    return 0


def _share(process: str) -> int:
    """Bytes in memory, each page divided by the number of those that share it."""
    with suppress(OSError, ValueError):
        lines = (_PROC / process / "smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return _resident(process)


def _below(folder: str) -> int:
    """Bytes on disk of a folder and all below it; links are not followed."""
    found, waiting = 0, [folder]
    while waiting:
        with suppress(OSError), os.scandir(waiting.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    found += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    return found


def _nameless(process: str) -> int:
    """Bytes of the files it holds open that have no name any more, or never had one."""
    found: dict[tuple[int, int], int] = {}
    with suppress(OSError), os.scandir(_PROC / process / "fd") as entries:
        for entry in entries:
            with suppress(OSError):
                held = entry.stat()
                if stat.S_ISREG(held.st_mode) and not held.st_nlink:
                    found[held.st_dev, held.st_ino] = held.st_blocks * _BLOCK
    return sum(found.values())
