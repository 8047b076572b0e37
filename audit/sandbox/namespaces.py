"""Namespaces: processes that end together with the first of them, and file systems that no other process sees."""

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

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_NEW_PROCESSES, _NEW_NETWORK = 0x20000000, 0x40000000
_NO_SETUID, _NO_DEVICES, _NO_EXECUTION = 2, 4, 8
_READ_ONLY, _REMOUNT, _BIND = 1, 1 << 5, 1 << 12
_RECURSIVELY, _PRIVATE = 1 << 14, 1 << 18
_MOUNT_SETATTR, _BELOW, _HERE = 442, 0x8000, -100
_ATTRIBUTE_READ_ONLY, _ATTRIBUTE_NO_SETUID, _ATTRIBUTE_NO_DEVICES = 1, 2, 4
_READ_ONLY_IN_PROC = ("1", "bus", "fs", "irq", "sys", "sysrq-trigger")
"""The parts of `/proc` that belong to the machine or to the namespace's first process, which watches the others."""
SHARED_MEMORY = "/dev/shm"
CACHES = f"{SHARED_MEMORY}/caches"
"""The compiler cache as seen by a process with shared memory of its own."""


def become_first() -> bool:
    """Fork, and go on as the first process of a new PID namespace; all its processes end with the first.

    `/proc` shows that namespace alone. The processes in between wait and pass on the exit code. Where the kernel offers
    no namespace, the process goes on as it was, but adopts the orphans among its descendants.

    Returns:
        Whether there is a namespace.
    """
    reading, writing = os.pipe()
    between = os.fork()
    if between == 0:
        os.close(reading)
        _create_namespace(writing)
        return True
    os.close(writing)
    with os.fdopen(reading, "rb") as signalled:
        created = signalled.read(1)
    if created:
        os._exit(wait_for(between))
    os.waitpid(between, 0)
    native.adopt_orphans()
    return False


def mount_shared_memory(size: int, *, files: int, kept: Iterable[str] = ()) -> bool:
    """Mount private shared memory, which vanishes with the last process that sees it.

    Args:
        size: its capacity in bytes.
        files: its capacity in files and folders.
        kept: paths that stay reachable, in the machine's shared memory too.

    Returns:
        Whether it is mounted; if not, nothing has changed.
    """
    below = {path for path in map(os.path.realpath, kept) if path.startswith(f"{SHARED_MEMORY}/")}
    try:
        native.unshare(_NEW_MOUNTS)
        native.mount("none", "/", "", _RECURSIVELY | _PRIVATE)
        opened = {path: os.open(path, os.O_PATH) for path in sorted(below) if Path(path).exists()}
        options = f"size={size},nr_inodes={files},mode=1777"
        native.mount("tmpfs", SHARED_MEMORY, "tmpfs", _NO_SETUID | _NO_DEVICES, options)
        for path, descriptor in opened.items():
            _create_mount_point(Path(path), folder=stat.S_ISDIR(os.fstat(descriptor).st_mode))
            native.mount(f"/proc/self/fd/{descriptor}", path, "", _BIND)
            os.close(descriptor)
    except OSError:
        return False
    return True


def _create_mount_point(path: Path, *, folder: bool) -> None:
    (path if folder else path.parent).mkdir(parents=True, exist_ok=True)
    if not folder and not path.exists():
        path.touch()


def mount_read_only(writable: Iterable[str]) -> bool:
    """Mount every file system read-only and without setuid, except those folders, in a private mount namespace.

    That protects metadata too: rights, times, owners and extended attributes.

    Returns:
        Whether they are mounted so (Linux 5.12); if not, nothing has changed.

    Raises:
        OSError: a folder could not be made writable again.
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


def _set_attributes(path: str, flags: int, *, on: int = 0, off: int = 0) -> None:
    """Call mount_setattr(2). Raises OSError."""
    changes = struct.pack("=4Q", on, off, 0, 0)
    native.call(_MOUNT_SETATTR, _HERE, path.encode(), flags, ctypes.create_string_buffer(changes, 32), 32)


def mount_caches(folder: str) -> bool:
    """Bind that folder to `CACHES`, since compilers store absolute paths; return whether it is mounted."""
    try:
        Path(CACHES).mkdir()
        native.mount(folder, CACHES, "", _BIND)
    except OSError:
        return False
    return True


def enter_network() -> None:
    """Enter a network namespace with a loop-back device alone. Raises OSError where the kernel offers none."""
    import fcntl
    import socket

    native.unshare(_NEW_NETWORK)
    set_flags, up_and_running = 0x8914, 0x41
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, set_flags, struct.pack("16sH14x", b"lo", up_and_running))


def _create_namespace(ready: int) -> None:
    """Create the PID namespace; return in its first process alone, after writing a byte to that descriptor."""
    native.die_with_parent(signal.SIGKILL)
    try:
        _new_processes()
    except OSError:
        os._exit(1)
    first = os.fork()
    if first:
        os.close(ready)
        os._exit(wait_for(first))
    native.die_with_parent(signal.SIGKILL)
    try:
        native.unshare(_NEW_MOUNTS)
        native.mount("none", "/", "", _RECURSIVELY | _PRIVATE)
        native.mount("proc", "/proc", "proc", _NO_SETUID | _NO_DEVICES | _NO_EXECUTION)
    except OSError:
        os._exit(1)
    _protect_proc()
    os.write(ready, b"1")
    os.close(ready)


def _protect_proc() -> None:
    """Mount the parts of `/proc` in `_READ_ONLY_IN_PROC` read-only, also for root."""
    flags = _NO_SETUID | _NO_DEVICES | _NO_EXECUTION
    for path in (f"/proc/{name}" for name in _READ_ONLY_IN_PROC):
        with suppress(OSError):  # not on this machine; `policy.settings_are_closed` asks the mount itself
            native.mount(path, path, "", _BIND | _RECURSIVELY)
            native.mount("none", path, "", _BIND | _REMOUNT | _READ_ONLY | flags)


def wait_for(process: int) -> int:
    """Wait for a child; return its exit code, 128 and more for a signal, as a shell does."""
    _, status = os.waitpid(process, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _new_processes() -> None:
    """Unshare the PID namespace: as root without a user namespace, which would take the rights to others' files."""
    with suppress(OSError):
        native.unshare(_NEW_PROCESSES)
        return
    user, group = os.getuid(), os.getgid()
    native.unshare(_NEW_USER | _NEW_PROCESSES)
    own = Path("/proc/self")
    (own / "setgroups").write_text("deny", encoding="ascii")
    (own / "uid_map").write_text(f"{user} {user} 1", encoding="ascii")
    (own / "gid_map").write_text(f"{group} {group} 1", encoding="ascii")
