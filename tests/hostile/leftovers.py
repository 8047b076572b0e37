"""What an attack may leave behind or have changed: looks at the machine before and after, from outside the audit."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from audit.model.run_directory import is_free

SET_CHILD_SUBREAPER = 36
MARK = "hostile_"
"""Every file, queue and socket that an attack tries to leave somewhere begins with this."""
COMMON = tuple(map(Path, ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/run", "/root", "/home")))
PATIENCE_S = 3.0
"""A process that was killed is listed a moment longer."""


@dataclass(frozen=True)
class Look:
    """The machine at one moment: processes below this one, files in guarded folders, marks, shared memory, locks."""

    processes: dict[int, str]
    files: dict[Path, tuple[int, ...]]
    scratch: frozenset[Path]
    marks: frozenset[str]
    shared: frozenset[str]
    unfinished: frozenset[Path]
    locked: frozenset[Path]
    descriptors: int


@dataclass(frozen=True)
class Places:
    """Where to look: guarded folders must not change, `scratch` must be left as it was, `cache` may only grow."""

    guarded: tuple[Path, ...]
    scratch: Path
    cache: Path


def adopt() -> None:
    """Has whoever loses his parent below this process become its child: no daemon gets out of sight."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def look(places: Places, judge: int) -> Look:
    """The machine now; `judge` is whose open descriptors are counted."""
    return Look(
        processes=descendants(os.getpid()),
        files={path: _print(path) for folder in places.guarded for path in _files(folder)},
        scratch=frozenset(places.scratch.iterdir()),
        marks=frozenset(name for folder in COMMON for name in _marks(folder)),
        shared=frozenset(_system_v()),
        unfinished=frozenset(_unfinished(places.cache)),
        locked=frozenset(path for path in places.cache.rglob("*.lock") if not is_free(path)),
        descriptors=sum(1 for _ in Path(f"/proc/{judge}/fd").iterdir()),
    )


def differences(before: Look, places: Places, judge: int) -> list[str]:
    """One sentence for everything that is not as it was; what is about to end is given a moment."""
    deadline = time.monotonic() + PATIENCE_S
    while (result := _described(before, look(places, judge), cache=places.cache)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return result


def _described(before: Look, now: Look, *, cache: Path) -> list[str]:
    changed = [path for path, seen in before.files.items() if now.files.get(path) != seen]
    more = [path for path in now.files if path not in before.files and cache not in path.parents]
    return [
        *(f"process {pid} is left: {name}" for pid, name in now.processes.items() if pid not in before.processes),
        *(f"a process is gone: {name}" for pid, name in before.processes.items() if pid not in now.processes),
        *(f"changed or gone: {path}" for path in changed),
        *(f"came into a guarded folder: {path}" for path in more),
        *(f"temporary file left: {path}" for path in now.scratch - before.scratch),
        *(f"left: {name}" for name in now.marks - before.marks),
        *(f"shared memory left: {line}" for line in now.shared - before.shared),
        *(f"unfinished cache entry: {path}" for path in now.unfinished - before.unfinished),
        *(f"still locked: {path}" for path in now.locked),
        *(["the judge has more descriptors open"] if now.descriptors > before.descriptors else []),
    ]


def descendants(of: int) -> dict[int, str]:
    """Every living process below that one by its number; one that has ended and was left to this process is reaped."""
    table = {pid: (parent, state, name) for pid, parent, state, name in _processes()}
    found, fresh = {}, {of}
    while fresh:
        fresh = {pid for pid, (parent, _, _) in table.items() if parent in fresh}
        found |= {pid: table[pid] for pid in fresh}
    for pid, (parent, state, _) in found.items():
        if state == "Z" and parent == os.getpid():
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    return {pid: name for pid, (_, state, name) in found.items() if state != "Z"}


def _processes() -> list[tuple[int, int, str, str]]:
    """Number, parent, state and name of all; proc_pid_stat(5): the name is in parentheses and may hold anything."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError):
                head, _, tail = (place / "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")
                state, parent = tail.split()[:2]
                found.append((int(place.name), int(parent), state, head.partition("(")[2]))
    return found


def _files(folder: Path) -> list[Path]:
    if folder.is_file():
        return [folder]
    return [path for path in folder.rglob("*") if path.is_symlink() or (path.is_file() and path.suffix != ".pyc")]


def _print(path: Path) -> tuple[int, ...]:
    """Changes with every change of the file, of its rights and of its links: nobody but the system sets `ctime`."""
    try:
        seen = path.lstat()
    except FileNotFoundError:
        return ()
    return seen.st_ino, seen.st_size, seen.st_mode, seen.st_nlink, seen.st_mtime_ns, seen.st_ctime_ns


def _marks(folder: Path) -> list[str]:
    try:
        return [str(path) for path in folder.iterdir() if path.name.startswith(MARK)]
    except OSError:  # not on this machine, or not ours to read
        return []


def _system_v() -> list[str]:
    """Segments, semaphores and queues of System V, by their kind, key and number."""
    found = []
    for kind in ("shm", "sem", "msg"):
        with suppress(OSError):
            lines = Path(f"/proc/sysvipc/{kind}").read_text(encoding="ascii").splitlines()[1:]
            found += [f"{kind} {' '.join(line.split()[:2])}" for line in lines]
    return found


def _unfinished(cache: Path) -> list[Path]:
    """Folders that a maker has not renamed: their names have an ending of their own (`audit.build.cache`)."""
    kinds = [kind for kind in cache.iterdir() if kind.is_dir()]
    return [path for kind in kinds for path in kind.iterdir() if path.is_dir() and "." in path.name]
