"""The descendants of a process: list them, measure their use of resources, end them all."""

from __future__ import annotations

import errno
import itertools
import os
import resource
import signal
import stat
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

from audit.sandbox.limits import GIB, Bounds

_PROC = Path("/proc")
_ROUNDS, _WAIT_S, _LONGEST_WAIT_S = 500, 0.001, 0.05


def descendants(of: str = "self") -> list[int]:
    """Return the running descendants of a process, by their PIDs in `/proc`."""
    found: list[int] = []
    waiting = [of]
    while waiting:
        children = [child for task in _tasks(waiting.pop()) for child in children_of(task)]
        found += map(int, children)
        waiting += children
    return found


def end_all(*, first: bool) -> None:
    """Kill and reap every descendant, also those that call setsid, fork twice or fork without end.

    Args:
        first: whether this process is the first of a PID namespace: the kernel then kills all others in it at once.
            Elsewhere they are stopped first, so that none forks between being listed and being killed.
    """
    for attempt in range(_ROUNDS):
        kill_all(first=first)
        if not _reaped():
            return
        time.sleep(min(_LONGEST_WAIT_S, _WAIT_S * (attempt + 1)))


def kill_all(*, first: bool, of: str = "self") -> None:
    """Kill every descendant there is now, and wait for none; see `end_all`."""
    if first:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    stopped: set[int] = set()
    while fresh := set(descendants(of)) - stopped:
        _send(fresh, signal.SIGSTOP)
        stopped |= fresh
    _send(stopped, signal.SIGKILL)


def _send(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _reaped() -> bool:
    """Reap the children that have ended; return whether any is left."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _tasks(process: str) -> Iterator[Path]:
    with suppress(OSError):  # it may have ended
        yield from (_PROC / process / "task").iterdir()


def children_of(task: Path) -> list[str]:
    """Return the children of a thread, by its folder in `/proc`; none where the kernel does not list them."""
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except OSError:
        return []


_LOOK_S, _FILES_S = 0.1, 0.5
_BLOCK = 512  # bytes, the unit of st_blocks
_MIB = 1 << 20
_SOCKETS = 1024
"""At once. Each holds up to 0.4 MB of the kernel's memory, which is in no process's count."""
_DESCRIPTORS = 16_384
"""Of all processes at once, so that one look at them takes a tenth of a second."""
_SHARED_MATTERS = 64 << 20
FOLDER_WEIGHT = 10
"""A folder takes the longest to remove: 4 ms on a disk under load, where a file takes 0.05 ms (measured)."""


MOST_PATIENCE = 3.0
"""The most wall time, as a multiple of the deadline: processes that starve each other wait for the processor too."""


class Deadline:
    """A limit of seconds for this process's descendants, without the time in which they waited for a processor.

    So a busy machine ends no session. The kernel counts that time (`/proc/<pid>/schedstat`, see
    Documentation/scheduler/sched-stats.rst); where it does not, every second counts.
    """

    def __init__(self, limit_s: float) -> None:
        self._start, self._limit_s, self._before = time.monotonic(), limit_s, _waited_ns()

    def over(self) -> bool:
        """Return whether the limit has passed."""
        passed_s = time.monotonic() - self._start
        if passed_s <= self._limit_s:
            return False
        waited_ns = max((now - self._before.get(one, 0) for one, now in _waited_ns().items()), default=0)
        return passed_s > MOST_PATIENCE * self._limit_s or passed_s - waited_ns / 1e9 > self._limit_s


def _waited_ns() -> dict[int, int]:
    """Return the nanoseconds for which each descendant was ready to run and had no processor, by PID."""
    found = {}
    for process in descendants():
        with suppress(OSError, IndexError, ValueError):
            found[process] = int((_PROC / str(process) / "schedstat").read_text(encoding="ascii").split()[1])
    return found


class Usage:
    """The resources that this process's descendants use, measured now and then.

    Args:
        bounds: their limits.
        folders: the folders they may write to.
        prints: the file of their standard output.
    """

    def __init__(self, bounds: Bounds, folders: Sequence[str], prints: IO[bytes]) -> None:
        self._bounds, self._folders, self._prints = bounds, folders, prints
        self._own = _resident("self")
        self._size_before = _disk_use(folders, bounds.files)[0]
        self._shared_before = _shared_of_machine()
        self._next_look = self._next_files = 0.0

    def excess(self) -> str | None:
        """Return the first exceeded bound, in words; None if there is none, or it is too early to measure again."""
        now = time.monotonic()
        if now < self._next_look:
            return None
        self._next_look = now + _LOOK_S
        running = [str(process) for process in descendants()]
        if len(running) > self._bounds.processes:
            return f"ran {len(running)} processes at once; {self._bounds.processes} are allowed"
        return self._memory(running) or self._files(running, now)

    def _memory(self, running: Sequence[str]) -> str | None:
        """Count shared pages once, which takes long, only where the bound is exceeded with each counted per process."""
        most = self._bounds.memory
        if sum(max(0, _resident(process) - self._own) for process in running) <= most:
            return None
        return _excess(sum(_share(process) for process in running), most, "memory")

    def _files(self, running: Sequence[str], now: float) -> str | None:
        if os.fstat(self._prints.fileno()).st_size > self._bounds.printed:
            return f"printed more than {self._bounds.printed // _MIB} MiB"
        if now < self._next_files:
            return None
        self._next_files = now + _FILES_S
        size, files = _disk_use(self._folders, self._bounds.files)
        if files > self._bounds.files:
            return f"made more than {self._bounds.files} files or {self._bounds.files // FOLDER_WEIGHT} folders"
        held = OpenFiles(running)
        if held.descriptors > _DESCRIPTORS or len(held.sockets) > _SOCKETS:
            return f"held {len(held.sockets)} sockets and {held.descriptors} descriptors open"
        shared = held.shared() if _shared_of_machine() - self._shared_before > _SHARED_MATTERS else 0
        size += sum(held.unlinked.values()) - self._size_before
        return _excess(size, self._bounds.disk, "bytes on disk") or (
            _excess(shared, self._bounds.scratch, "shared memory")
        )


def _resident(process: str) -> int:
    """Return the resident bytes, shared pages included; 0 once the process has ended."""
    with suppress(OSError, IndexError, ValueError):
        pages = (_PROC / process / "statm").read_text(encoding="ascii").split()[1]
        return int(pages) * resource.getpagesize()
    return 0


def _share(process: str) -> int:
    """Return the resident bytes, each page divided by the number of processes that share it (Pss)."""
    with suppress(OSError, ValueError):
        lines = (_PROC / process / "smaps_rollup").read_text(encoding="ascii").splitlines()
        return sum(int(line.split()[1]) << 10 for line in lines if line.startswith("Pss:"))
    return _resident(process)


def _disk_use(folders: Sequence[str], most: int) -> tuple[int, int]:
    """Return the bytes on disk and the number of files below those folders; links are not followed.

    A folder counts as `FOLDER_WEIGHT` files. The count stops once it is above `most`, since a process can make folders
    faster than another counts them. A path longer than the system takes counts as above it.
    """
    size, files, waiting = 0, 0, [*folders]
    while waiting and files <= most:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in itertools.islice(entries, most + 1):
                    files += 1
                    if entry.is_dir(follow_symlinks=False):
                        files += FOLDER_WEIGHT - 1
                        waiting.append(entry.path)
                    with suppress(FileNotFoundError):
                        size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
        except OSError as error:
            files = most + 1 if error.errno == errno.ENAMETOOLONG else files
    return size, files


class OpenFiles:
    """The files that processes hold open.

    Attributes:
        descriptors: their number; the count stops above `_DESCRIPTORS`.
        sockets: by device and inode.
        unlinked: bytes of the files without a name, by device and inode, without those in shared memory.
    """

    def __init__(self, running: Sequence[str]) -> None:
        self.descriptors = 0
        self.sockets: set[tuple[int, int]] = set()
        self.unlinked: dict[tuple[int, int], int] = {}
        self._running = running
        self._shared: dict[tuple[int, int], int] = {}
        for process in running:
            with suppress(OSError), os.scandir(_PROC / process / "fd") as entries:
                for entry in itertools.islice(entries, _DESCRIPTORS + 1 - self.descriptors):
                    self.descriptors += 1
                    with suppress(OSError):
                        self._add(entry.stat())

    def _add(self, held: os.stat_result) -> None:
        file = held.st_dev, held.st_ino
        if stat.S_ISSOCK(held.st_mode):
            self.sockets.add(file)
        elif stat.S_ISREG(held.st_mode) and not held.st_nlink:
            kind = self._shared if held.st_dev == _device_of_shared_memory() else self.unlinked
            kind[file] = held.st_blocks * _BLOCK

    def shared(self) -> int:
        """Return the bytes of unlinked shared memory that the processes have open or mapped, resident or not."""
        mapped: dict[tuple[int, int], int] = {}
        for process in self._running:
            own: dict[tuple[int, int], int] = {}
            for file, size in _mapped(process):
                own[file] = own.get(file, 0) + size
            for file, size in own.items():
                mapped[file] = max(size, mapped.get(file, 0))
        return sum((mapped | self._shared).values())


def _mapped(process: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Yield device and inode, and size, of each mapping of unlinked shared memory; see proc_pid_maps(5)."""
    with suppress(OSError), (_PROC / process / "maps").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.endswith("(deleted)\n"):
                addresses, _, _, device, inode = line.split()[:5]
                start, end = (int(number, 16) for number in addresses.split("-"))
                file = os.makedev(*(int(number, 16) for number in device.split(":"))), int(inode)
                if file[0] == _device_of_shared_memory():
                    yield file, end - start


@cache
def _device_of_shared_memory() -> int:
    """Return the device of memfds and anonymous shared mappings."""
    descriptor = os.memfd_create("device")
    try:
        return os.fstat(descriptor).st_dev
    finally:
        os.close(descriptor)


def _shared_of_machine() -> int:
    """Return the bytes of shared memory in use on the whole machine; 0 where unknown."""
    with suppress(OSError, IndexError), (_PROC / "meminfo").open(encoding="ascii") as lines:
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith("Shmem:")), 0)
    return 0


def _excess(size: int, most: int, what: str) -> str | None:
    return f"held {size / GIB:.1f} GiB of {what}; {most / GIB:.1f} are allowed" if size > most else None
