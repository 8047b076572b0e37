"""How much of a machine one session or compiler may use. The one place these numbers stand."""

from __future__ import annotations

import os
import resource
import shutil
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

GIB = 1 << 30
_MEMORY_SHARE, _LEAST_MEMORY = 0.6, 2 * GIB
_DISK_SHARE, _MOST_DISK = 0.5, 16 * GIB
_SCRATCH = 4 * GIB
_CGROUP_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
PROCESSES = 512
"""Processes and threads' leaders at once: a builder with two jobs has about ten, torch.compile one a core."""
DESCRIPTORS = 4096
PRINTED_BYTES = 64 << 20
USER_PROCESSES = 4096
"""Processes and threads of the user beside those there already, where the user is not root."""


@dataclass(frozen=True)
class Bounds:
    """Bytes and counts.

    Attributes:
        memory: resident, of the whole session, without what its parent shares with it.
        data: writable private address space of one process.
        disk: in files it writes, those without a name included.
        scratch: of its private temporary folder where that is a file system of its own.
        processes: at once.
        descriptors: open at once, of one process.
        printed: on standard output and error.
    """

    memory: int
    data: int
    disk: int
    scratch: int
    processes: int = PROCESSES
    descriptors: int = DESCRIPTORS
    printed: int = PRINTED_BYTES


@cache
def of_this_machine() -> Bounds:
    """From the memory this process may use and the room where temporary files go."""
    memory = max(int(_memory() * _MEMORY_SHARE), _LEAST_MEMORY)
    free = shutil.disk_usage(tempfile.gettempdir()).free
    disk = min(int(free * _DISK_SHARE), _MOST_DISK)
    return Bounds(memory=memory, data=max(_memory(), memory), disk=disk, scratch=min(_SCRATCH, memory // 2))


def descriptors() -> int:
    """How many one process may open: no more than it may now."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)


def _memory() -> int:
    """Physical bytes, or the control group's limit or the user's (`ulimit -d`) where that is lower."""
    least = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file in map(Path, _CGROUP_LIMITS):
        text = file.read_text(encoding="ascii").strip() if file.is_file() else "max"
        least = min(least, int(text)) if text.isdigit() else least
    own = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return least if own == resource.RLIM_INFINITY else min(least, own)
