"""Limits a process in the sandbox meets, and that it cannot lift them."""

from __future__ import annotations

import os
import resource
import signal
from pathlib import Path

import pytest

from audit.sandbox import native
from tests.sandbox.inside import LIMIT, REFUSED, inside

WALL = "limits"
pytestmark = pytest.mark.usefixtures("wall")


def test_more_memory_than_allowed_raises(tmp_path: Path) -> None:
    assert inside(lambda: len(bytearray(5 << 30)), home=tmp_path, limit=LIMIT) == "MemoryError"


def test_a_file_ends_at_its_limit_and_the_process_lives(tmp_path: Path) -> None:
    def fill() -> int:
        with (tmp_path / "large").open("wb") as out:
            out.truncate(LIMIT.disk)
            out.seek(LIMIT.disk)
            out.write(b"more")
        return 0

    assert inside(fill, home=tmp_path, writes=[tmp_path], limit=LIMIT) == "OSError"


def test_temporary_files_and_shared_memory_are_limited_together(tmp_path: Path) -> None:
    def fill() -> int:
        for index in range(100):
            Path(f"/dev/shm/{index}").write_bytes(bytes(1 << 20))
        return 0

    assert inside(fill, home=tmp_path, limit=LIMIT) in REFUSED
    assert not Path("/dev/shm/0").exists()


def test_no_core_file_and_no_limit_is_lifted(tmp_path: Path) -> None:
    assert inside(lambda: resource.getrlimit(resource.RLIMIT_CORE), home=tmp_path) == [0, 0]
    for limit in (resource.RLIMIT_CORE, resource.RLIMIT_DATA, resource.RLIMIT_FSIZE, resource.RLIMIT_NOFILE):

        def lift(limit: int = limit) -> None:
            resource.setrlimit(limit, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

        assert inside(lift, home=tmp_path) in ("ValueError", "PermissionError")


def test_it_is_the_first_to_go_where_memory_is_short(tmp_path: Path) -> None:
    assert inside(lambda: int(Path("/proc/self/oom_score_adj").read_text(encoding="ascii")), home=tmp_path) == 1000


def test_root_has_no_rights_but_those_to_files(tmp_path: Path) -> None:
    def rights() -> list[str]:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return [line.split()[1] for line in lines if line.startswith(("CapEff", "NoNewPrivs"))]

    effective, none_new = inside(rights, home=tmp_path)
    assert int(effective, 16) & ~0b110 == 0 and none_new == "1"
    own = tmp_path / "own"
    own.touch()
    assert inside(lambda: os.chown(own, 1, 1), home=tmp_path, writes=[tmp_path]) in REFUSED


def test_a_process_dies_with_the_one_that_forked_it() -> None:
    read, write = os.pipe()
    parent = os.fork()
    if parent == 0:
        if os.fork() == 0:
            native.die_with_parent(signal.SIGKILL)
            os.write(write, b"ready")
            signal.pause()
        signal.pause()
    os.close(write)
    assert os.read(read, 5) == b"ready"
    os.kill(parent, signal.SIGKILL)
    os.waitpid(parent, 0)
    assert os.read(read, 1) == b""  # the end of the pipe: nobody holds it any more
