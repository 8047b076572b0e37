"""Limits of one process: what the kernel itself refuses to go beyond, and which process it ends first."""

from __future__ import annotations

import os
import resource
import signal
from contextlib import suppress
from pathlib import Path

from audit.sandbox import bounds, native
from audit.sandbox.bounds import Bounds

_FIRST_TO_GO = "1000"
_CAPABILITY_VERSION = 0x20080522
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2
_KEPT = 1 << _CAP_DAC_OVERRIDE | 1 << _CAP_DAC_READ_SEARCH
"""What lets root read a file of another user; which files those may be is Landlock's business."""
_CAPGET_CAPSET = {"x86_64": (125, 126), "aarch64": (90, 91)}


def set_limits(limit: Bounds, *, processor_s: float | None) -> None:
    """Sets this process's limits, for it and all it starts.

    RLIMIT_DATA and not RLIMIT_AS: a GPU's driver reserves more address space than any machine has memory.

    Args:
        limit: see `bounds`.
        processor_s: of processor time, a process; None for no limit.
    """
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write beyond the file limit fails, and says so
    wanted = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: limit.data,
        resource.RLIMIT_FSIZE: limit.disk,
        resource.RLIMIT_NOFILE: bounds.descriptors(),
    }
    if processor_s is not None:
        wanted[resource.RLIMIT_CPU] = int(processor_s) + 1
    if os.geteuid() != 0:  # the kernel does not hold root to it
        wanted[resource.RLIMIT_NPROC] = _tasks_of_user() + bounds.USER_PROCESSES
    for what, most in wanted.items():
        hard = resource.getrlimit(what)[1]
        own = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (own, own))
    with suppress(OSError):  # a machine may not have it
        Path("/proc/self/oom_score_adj").write_text(_FIRST_TO_GO, encoding="ascii")


def drop_capabilities() -> None:
    """Root keeps of its rights only those to files. Raises OSError where the kernel refuses, KeyError elsewhere."""
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
    """Threads of this user on the machine, which the kernel counts together."""
    user, found = os.getuid(), 0
    for process in Path("/proc").iterdir():
        with suppress(OSError):  # it may end meanwhile
            if process.name.isdigit() and process.stat().st_uid == user:
                found += sum(1 for _ in (process / "task").iterdir())
    return found
