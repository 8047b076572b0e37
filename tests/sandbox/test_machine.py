"""Cores and memory of a process from literal files of the kernel; the affinity is this process's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from audit.sandbox import limits

VERSION_1 = {
    "proc/self/cgroup": "4:memory:/pod/one\n1:cpu,cpuacct:/pod/one\n0::/\n",
    "proc/self/mountinfo": (
        "24 23 0:22 / /proc rw,relatime - proc proc rw\n"
        "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
        "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    ),
    "sys/fs/cgroup/cpu,cpuacct/pod/one/cpu.cfs_period_us": "100000\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
}
VERSION_2 = {
    "proc/self/cgroup": "0::/pod/one\n",
    "proc/self/mountinfo": "31 23 0:28 / /sys/fs/cgroup rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n",
}


@pytest.fixture(autouse=True)
def sixteen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixteen cores by the affinity, whatever machine the test runs on."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))


def root(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(
    ("quota", "cores"), [("200000\n", 2), ("150000\n", 2), ("-1\n", 16), ("1000\n", 1), ("9900000\n", 16), ("\n", 16)]
)
def test_a_quota_of_version_1_counts_in_cores(tmp_path: Path, quota: str, cores: int) -> None:
    own = {"sys/fs/cgroup/cpu,cpuacct/pod/one/cpu.cfs_quota_us": quota}
    assert limits.cores(root(tmp_path, VERSION_1 | own)) == cores


@pytest.mark.parametrize(
    ("own", "above", "cores"),
    [("max 100000\n", "400000 100000\n", 4), ("50000 100000\n", "max 100000\n", 1), ("max 100000\n", "", 16),
     ("300000 100000\n", "200000 100000\n", 2)],
)  # fmt: skip
def test_the_least_quota_of_a_group_and_those_above_it_counts(tmp_path: Path, own: str, above: str, cores: int) -> None:
    files = {"sys/fs/cgroup/pod/one/cpu.max": own, "sys/fs/cgroup/pod/cpu.max": above}
    assert limits.cores(root(tmp_path, VERSION_2 | files)) == cores


@pytest.mark.parametrize("path", ["/docker/1f", "/docker/1f/below", "/../../elsewhere", "/system.slice"])
def test_a_container_finds_its_limit_where_its_own_group_is_mounted(tmp_path: Path, path: str) -> None:
    files = {
        "proc/self/cgroup": f"0::{path}\n",
        "proc/self/mountinfo": "31 23 0:28 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n",
        "sys/fs/cgroup/cpu.max": "200000 100000\n",
        "sys/fs/cgroup/memory.max": "1073741824\n",
    }
    assert limits.cores(root(tmp_path, files)) == 2
    assert limits.memory_bytes(tmp_path) == 1 << 30


def test_memory_is_the_machines_unless_a_group_has_less(tmp_path: Path) -> None:
    whole = limits.memory_bytes(root(tmp_path, VERSION_1))
    assert whole == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    root(tmp_path, {"sys/fs/cgroup/memory/pod/one/memory.limit_in_bytes": "12000000\n"})
    assert limits.memory_bytes(tmp_path) == 12_000_000


@pytest.mark.parametrize(("gib", "jobs"), [(1, 1), (5, 2)])
def test_memory_bounds_the_jobs_where_the_cores_would_take_more(tmp_path: Path, gib: int, jobs: int) -> None:
    limit = {"sys/fs/cgroup/pod/memory.max": f"{gib << 30}\n"}
    assert limits.jobs(root(tmp_path, VERSION_2 | limit)) == jobs


def test_a_machine_without_control_groups_has_the_cores_of_the_affinity(tmp_path: Path) -> None:
    assert limits.cores(tmp_path) == 16


def test_a_process_held_to_one_core_counts_one() -> None:
    code = "import os; from audit.sandbox import limits; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
    done = subprocess.run(
        [sys.executable, "-c", code + "print(limits.cores(), limits.jobs())"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "1 1\n"
