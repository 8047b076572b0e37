"""A process's descendants: who they are, how much of the machine they take, and that none is left."""

from __future__ import annotations

import os
import resource
import signal
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from audit.sandbox.limits import GIB, Bounds

_PROC = Path("/proc")
_ROUNDS, _WAIT_S, _LONGEST_WAIT_S = 500, 0.001, 0.05


def descendants() -> list[int]:
    """Everything this process and its descendants started and that still runs, by the numbers `/proc` uses."""
    found: list[int] = []
    waiting = ["self"]
    while waiting:
        children = [child for task in _tasks(waiting.pop()) for child in _children(task)]
        found += map(int, children)
        waiting += children
    return found


def end_all(*, first: bool) -> None:
    """Ends every descendant, those that call setsid, fork twice or fork without end too, and reaps them.

    Args:
        first: this process is the first of a namespace: the kernel then ends all others in it at once. Elsewhere they
            are stopped first, so that none can fork between being seen and being ended.
    """
    for turn in range(_ROUNDS):
        strike(first=first)
        if not _reaped():
            return
        time.sleep(min(_LONGEST_WAIT_S, _WAIT_S * (turn + 1)))


def strike(*, first: bool) -> None:
    """Ends every descendant there is now, and waits for none; see `end_all`."""
    if first:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    stopped: set[int] = set()
    while fresh := set(descendants()) - stopped:
        _send(fresh, signal.SIGSTOP)
        stopped |= fresh
    _send(stopped, signal.SIGKILL)


def _send(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _reaped() -> bool:
    """Collects those that have ended; whether any is left."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _tasks(process: str) -> Iterator[Path]:
    with suppress(OSError):  # it may have ended
        yield from (_PROC / process / "task").iterdir()


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except OSError:
        return []


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
