"""Cores and memory this process may use: its affinity, and the limits of its control groups, version 1 and 2."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

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


@dataclass(frozen=True)
class _Mount:
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
