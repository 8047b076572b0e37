"""Namespaces: processes that end together with their first, and file systems that no other process sees."""

from __future__ import annotations

import ctypes
import os
import signal
import stat
import struct
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from audit.sandbox import native

_NEW_MOUNTS, _NEW_IPC, _NEW_USER = 0x00020000, 0x08000000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
_NO_SETUID, _NO_DEVICES, _NO_EXECUTION = 2, 4, 8
_READ_ONLY, _REMOUNT, _BIND = 1, 1 << 5, 1 << 12
_RECURSIVELY, _PRIVATE = 1 << 14, 1 << 18
_MOUNT_SETATTR, _BELOW, _HERE = 442, 0x8000, -100
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SETUID, _ATTRIBUTE_NO_DEVICES = 1, 2, 4
_CLOSED = ("1", "bus", "fs", "irq", "sys", "sysrq-trigger")
"""The parts of `/proc` that belong to the namespace's first process, which watches the others, or to the machine."""
SHARED_MEMORY = "/dev/shm"
CACHES = f"{SHARED_MEMORY}/caches"
"""Where a process with shared memory of its own finds its compilers' folder, whatever that is called outside."""


def become_first() -> bool:
    """Forks, and goes on as the first process of a new process namespace, with whose end all others of it end.

    It sees a `/proc` of that namespace alone. The processes in between wait, pass on how it ended, and end. Where this
    is not offered the process stays as it was, but adopts the orphans of what it starts.

    Returns:
        Whether there is a namespace.
    """
    ready, stands = os.pipe()
    between = os.fork()
    if between == 0:
        os.close(ready)
        _found(stands)
        return True
    os.close(stands)
    with os.fdopen(ready, "rb") as heard:
        there = heard.read(1)
    if there:
        os._exit(_waited(between))
    os.waitpid(between, 0)
    native.adopt_orphans()
    return False


def own_scratch(size: int, *, files: int, kept: Iterable[str] = ()) -> bool:
    """Mount shared memory of this process's own, gone with the last process that sees it.

    Args:
        size: bytes that it holds at most.
        files: files and folders that it holds at most.
        kept: paths that stay where they are, also those in the machine's shared memory.

    Returns:
        Whether it has one now; if not, all stays as it was.
    """
    below = {path for path in map(os.path.realpath, kept) if path.startswith(f"{SHARED_MEMORY}/")}
    try:
        native.unshare(_NEW_MOUNTS)
        native.mount("none", "/", "", _RECURSIVELY | _PRIVATE)
        places = {path: os.open(path, os.O_PATH) for path in sorted(below) if Path(path).exists()}
        options = f"size={size},nr_inodes={files},mode=1777"
        native.mount("tmpfs", SHARED_MEMORY, "tmpfs", _NO_SETUID | _NO_DEVICES, options)
        for path, place in places.items():
            _placeholder(Path(path), folder=stat.S_ISDIR(os.fstat(place).st_mode))
            native.mount(f"/proc/self/fd/{place}", path, "", _BIND)
            os.close(place)
    except OSError:
        return False
    return True


def _placeholder(path: Path, *, folder: bool) -> None:
    """Make an empty folder or file there, unless there is one."""
    (path if folder else path.parent).mkdir(parents=True, exist_ok=True)
    if not folder and not path.exists():
        path.touch()


def close_files(writable: Iterable[str]) -> bool:
    """Mount every file system for reading alone but those folders, in a mount namespace of this process's own.

    Not even metadata changes then: rights, times, owners and extended attributes. Programs with a setuid bit lose it.

    Returns:
        Whether it is so (Linux 5.12); if not, all stays as it was.

    Raises:
        OSError: a folder could not be opened again.
    """
    folders = [*writable]
    try:
        for folder in folders:
            native.mount(folder, folder, "", _BIND)
        _set_attributes("/", _BELOW, on=_ATTRIBUTE_READ_ONLY | _ATTRIBUTE_NO_SETUID)
    except OSError:
        return False
    for folder in (*folders, SHARED_MEMORY):
        _set_attributes(folder, 0, on=_ATTRIBUTE_NO_DEVICES, off=_ATTRIBUTE_READ_ONLY)
    _set_attributes("/proc", 0, off=_ATTRIBUTE_READ_ONLY)  # a GPU's driver names its threads there
    return True


def _set_attributes(place: str, flags: int, *, on: int = 0, off: int = 0) -> None:
    """mount_setattr(2). Raises OSError."""
    changes = struct.pack("=4Q", on, off, 0, 0)
    native.call(_MOUNT_SETATTR, _HERE, place.encode(), flags, ctypes.create_string_buffer(changes, 32), 32)


def show_caches(folder: str) -> bool:
    """Shows that folder at `CACHES` too, in shared memory of this process's own: compilers keep absolute paths.

    Returns:
        Whether it is there.
    """
    try:
        Path(CACHES).mkdir()
        native.mount(folder, CACHES, "", _BIND)
    except OSError:
        return False
    return True


def own_network() -> None:
    """A network without any other machine, its loop-back device switched on. Raises OSError where none is offered."""
    import fcntl
    import socket

    native.unshare(_NEW_NETWORK)
    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", up_and_running))


def _found(stands: int) -> None:
    """Makes the namespace; returns in its first process alone, after a byte to that descriptor."""
    native.die_with_parent(signal.SIGKILL)
    try:
        _new_processes()
    except OSError:
        os._exit(1)
    first = os.fork()
    if first:
        os.close(stands)
        os._exit(_waited(first))
    native.die_with_parent(signal.SIGKILL)
    try:
        native.unshare(_NEW_MOUNTS)
        native.mount("none", "/", "", _RECURSIVELY | _PRIVATE)
        native.mount("proc", "/proc", "proc", _NO_SETUID | _NO_DEVICES | _NO_EXECUTION)
    except OSError:
        os._exit(1)
    _close_what_is_others()
    os.write(stands, b"1")
    os.close(stands)


def _close_what_is_others() -> None:
    """Settings in the new `/proc` that are not a session's own are for reading, whatever the user's rights to them."""
    kept = _NO_SETUID | _NO_DEVICES | _NO_EXECUTION
    for place in (f"/proc/{name}" for name in _CLOSED):
        with suppress(OSError):  # not on this machine; who asks whether they are closed looks
            native.mount(place, place, "", _BIND | _RECURSIVELY)
            native.mount("none", place, "", _BIND | _REMOUNT | _READ_ONLY | kept)


def _waited(process: int) -> int:
    """Waits for a child; its exit code, or what a shell makes of the signal that ended it."""
    _, status = os.waitpid(process, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _new_processes() -> None:
    """As root without a user namespace, which would take away the rights to other users' files; else with one."""
    with suppress(OSError):
        native.unshare(_NEW_PROCESSES)
        return
    user, group = os.getuid(), os.getgid()
    native.unshare(_NEW_USER | _NEW_PROCESSES)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny", encoding="ascii")
    (own / "uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    (own / "gid_map").write_text(f"{group} {group} 1", encoding="ascii")
