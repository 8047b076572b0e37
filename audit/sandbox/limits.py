"""What this process may use of the machine, the bounds of one session or compiler, and the limits the kernel enforces.

Cores and memory follow from its affinity and from the limits of its control groups, version 1 and 2.
"""

from __future__ import annotations

import math
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from audit.sandbox import native

GIB = 1 << 30
JOB_BYTES = 2 * GIB
"""Memory of a build or of a session at large shapes: a compiler takes up to 1 GiB, inputs and results as much."""
_ROOT = Path("/")


def cores(root: Path = _ROOT) -> int:
    """Return the processor cores that this process may keep busy, 1 at least.

    Args:
        root: the folder with `proc` and the control groups.
    """
    quotas = [quota for folder in _groups(root, "cpu") if (quota := _quota(folder)) is not None]
    return max(1, min([len(os.sched_getaffinity(0)), *map(math.ceil, quotas)]))


def memory_bytes(root: Path = _ROOT) -> int:
    """Return the physical bytes of the machine, or the limit of a control group where that is lower."""
    limits = [
        int(text)
        for folder in _groups(root, "memory")
        for name in ("memory.max", "memory.limit_in_bytes")
        if (text := _text(folder / name)).isdigit()
    ]
    return min([os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"), *limits])


def jobs(root: Path = _ROOT) -> int:
    """Return how many builds or sessions the cores keep busy and the memory holds at once, 1 at least."""
    return max(1, min(cores(root), memory_bytes(root) // JOB_BYTES))


def _quota(folder: Path) -> float | None:
    """Return the processor seconds a group may use a second; None where it has no limit."""
    most, _, period = _text(folder / "cpu.max").partition(" ")
    if not most:
        most, period = _text(folder / "cpu.cfs_quota_us"), _text(folder / "cpu.cfs_period_us")
    return int(most) / int(period) if most.isdigit() and period.isdigit() and int(period) else None


class _Mount(NamedTuple):
    """One hierarchy of control groups, mounted at `at` from group `top` down; version 2 has no controllers."""

    controllers: frozenset[str]
    top: PurePosixPath
    at: Path


def _groups(root: Path, controller: str) -> Iterator[Path]:
    """Yield the folders of this process's group and of those above it, in every hierarchy with that controller."""
    own: dict[str, PurePosixPath] = {}
    for line in _text(root / "proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), PurePosixPath(path))
    for mount in _mounts(root):
        name = controller if mount.controllers else ""
        if name in own and (not name or name in mount.controllers):
            inside = own[name].is_relative_to(mount.top) and ".." not in own[name].parts
            folder = mount.at / own[name].relative_to(mount.top) if inside else mount.at
            yield from (one for one in (folder, *folder.parents) if one.is_relative_to(mount.at))


def _mounts(root: Path) -> Iterator[_Mount]:
    """Yield the hierarchies of /proc/self/mountinfo; proc_pid_mountinfo(5) has its fields."""
    for line in _text(root / "proc/self/mountinfo").splitlines():
        before, _, after = line.partition(" - ")
        top, at = before.split()[3:5]
        kind, _, options = after.split(maxsplit=2)
        if kind in ("cgroup", "cgroup2"):
            controllers = frozenset(options.split(",")) if kind == "cgroup" else frozenset()
            yield _Mount(controllers, PurePosixPath(top), root / at.lstrip("/"))


def _text(file: Path) -> str:
    """Return the text of a file of the kernel; empty where it cannot be read."""
    with suppress(OSError):
        return file.read_text(encoding="utf-8", errors="replace").strip()
    return ""


_MEMORY_SHARE, _LEAST_MEMORY = 0.6, 2 * GIB
_DISK_SHARE, _MOST_DISK = 0.5, 16 * GIB
_SCRATCH = 4 * GIB
PROCESSES = 512
"""Processes at once: a builder with two jobs has about ten, torch.compile one a core."""
DESCRIPTORS = 4096
FILES = 20_000
"""Files and folders at once; a build with torch's extension builder leaves about ten, Triton eight for each kernel."""
PRINTED_BYTES = 64 << 20
USER_PROCESSES = 4096
"""Processes and threads of a user other than root, in addition to those that run already."""


class Bounds(NamedTuple):
    """Bytes and counts.

    Attributes:
        memory: resident bytes of the whole session, without pages shared with its parent.
        data: bytes of writable private address space of one process.
        disk: bytes of the files it writes, unlinked ones included.
        scratch: bytes of its temporary folder, where that is a file system of its own.
        processes: at once.
        files: at once, in its folders and again in its temporary folder; see `processes.FOLDER_WEIGHT`.
        printed: bytes on standard output and error.
    """

    memory: int
    data: int
    disk: int
    scratch: int
    processes: int = PROCESSES
    files: int = FILES
    printed: int = PRINTED_BYTES


@cache
def of_this_machine() -> Bounds:
    """Return the bounds that follow from the memory this process may use and from the free disk."""
    import tempfile

    memory = max(int(_memory() * _MEMORY_SHARE), _LEAST_MEMORY)
    disk = os.statvfs(tempfile.gettempdir())
    disk_bytes = min(int(disk.f_bavail * disk.f_frsize * _DISK_SHARE), _MOST_DISK)
    return Bounds(memory=memory, data=max(_memory(), memory), disk=disk_bytes, scratch=min(_SCRATCH, memory // 2))


def _memory() -> int:
    """Return the bytes this process may use, or the user's limit (`ulimit -d`) where that is lower."""
    least = memory_bytes()
    own = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return least if own == resource.RLIM_INFINITY else min(least, own)


_KILLED_FIRST = "1000"
_CAPABILITY_VERSION = 0x20080522
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_KEPT = 1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH
"""The rights by which root reads a file of another user; Landlock decides which files those may be."""
_CAPGET_CAPSET = {"x86_64": (125, 126), "aarch64": (90, 91)}


def set_limits(limit: Bounds, *, processor_s: float | None) -> None:
    """Set the limits of this process and its descendants.

    RLIMIT_DATA and not RLIMIT_AS: a GPU's driver reserves more address space than any machine has memory.

    Args:
        limit: the bounds.
        processor_s: seconds of processor time for one process; None for no limit.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the file limit fails, and says so
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: limit.data,
        resource.RLIMIT_FSIZE: limit.disk,
        resource.RLIMIT_NOFILE: DESCRIPTORS,
    }
    if processor_s is not None:
        wanted[resource.RLIMIT_CPU] = int(processor_s) + 1
    if os.geteuid() != 0:  # the kernel exempts root
        wanted[resource.RLIMIT_NPROC] = _tasks_of_user() + USER_PROCESSES
    for what, most in wanted.items():
        hard = resource.getrlimit(what)[1]
        own = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (own, own))
    with suppress(OSError):  # some machines have no such file
        Path("/proc/self/oom_score_adj").write_text(_KILLED_FIRST, encoding="ascii")


def drop_capabilities() -> None:
    """Drop root's capabilities but `_KEPT`. Raises OSError where the kernel refuses, KeyError on other machines."""
    import ctypes
    import struct

    get, set_ = _CAPGET_CAPSET[native.MACHINE]
    header = ctypes.create_string_buffer(struct.pack("=Ii", _CAPABILITY_VERSION, 0), 8)
    held = ctypes.create_string_buffer(24)
    native.call(get, header, held)
    effective, permitted = struct.unpack("=6I", held.raw)[:2]
    low = effective & permitted & _KEPT
    native.call(set_, header, ctypes.create_string_buffer(struct.pack("=6I", low, low, 0, 0, 0, 0), 24))


def _tasks_of_user() -> int:
    """Return the number of this user's threads on the machine, which the kernel counts together."""
    user, found = os.getuid(), 0
    for process in Path("/proc").iterdir():
        with suppress(OSError):  # a process may end meanwhile
            if process.name.isdigit() and process.stat().st_uid == user:
                found += sum(1 for _ in (process / "task").iterdir())
    return found
