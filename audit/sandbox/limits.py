"""Bounds on the resources of one session or compiler, and the resource limits that the kernel enforces."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from audit.sandbox import machine, native

GIB = 1 << 30
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


@dataclass(frozen=True)
class Bounds:
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
    memory = max(int(_memory() * _MEMORY_SHARE), _LEAST_MEMORY)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    disk = min(int(free * _DISK_SHARE), _MOST_DISK)
    return Bounds(memory=memory, data=max(_memory(), memory), disk=disk, scratch=min(_SCRATCH, memory // 2))


def _memory() -> int:
    """Return the bytes this process may use, or the user's limit (`ulimit -d`) where that is lower."""
    least = machine.memory_bytes()
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
