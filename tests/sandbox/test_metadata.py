"""Rights, times, owners and attributes of files outside stay as they are, with read-only mounts and without them."""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from audit.sandbox import check, native
from tests.sandbox.inside import REFUSED, inside

WALL = "metadata"
pytestmark = pytest.mark.usefixtures("wall")
WITHOUT = ("", "namespaces", "landlock", "seccomp", "namespaces,landlock")
SET_FLAGS, NO_DUMP = 0x40086602, 0x40
HERE, EMPTY_PATH = -100, 0x1000
NEWER = {
    "fchmodat2": (452, 0o777, 0),
    "setxattrat": (463, 0, 0),
    "removexattrat": (466, 0, 0),
    "file_setattr": (469, 0),
}


def flag(file: Path) -> None:
    with file.open("rb") as opened:
        fcntl.ioctl(opened, SET_FLAGS, struct.pack("l", NO_DUMP))


def through_a_descriptor(file: Path) -> None:
    os.fchmod(os.open(file, os.O_RDONLY), 0o777)


CHANGES: dict[str, Callable[[Path], object]] = {
    "chmod": lambda file: file.chmod(0o4777),
    "fchmod": through_a_descriptor,
    "through /proc": lambda file: Path(f"/proc/self/fd/{os.open(file, os.O_RDONLY)}").chmod(0o777),
    "close a folder": lambda file: file.parent.chmod(0),
    "chown": lambda file: os.chown(file, os.getuid(), os.getgid()),
    "utime": lambda file: os.utime(file, (0, 0)),
    "setxattr": lambda file: os.setxattr(file, "user.tried", b"1"),
    "removexattr": lambda file: os.removexattr(file, "user.there"),
    "flags": flag,
    **{
        name: lambda file, call=call: native.call(call[0], HERE, str(file).encode(), *call[1:])
        for name, call in NEWER.items()
    },
}


@pytest.mark.parametrize("without", WITHOUT)
def test_nothing_about_a_file_outside_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: str) -> None:
    file = tmp_path / "outside" / "file"
    file.parent.mkdir()
    file.write_text("of the user")
    os.setxattr(file, "user.there", b"1")
    before = [one.stat() for one in (file, file.parent)]
    monkeypatch.setenv(native.WITHOUT, without)
    for name, change in CHANGES.items():
        assert inside(lambda change=change: change(file), home=tmp_path, reads=[file.parent]) in REFUSED, name
    assert [(one.st_mode, one.st_uid, one.st_mtime_ns, one.st_ctime_ns) for one in before] == [
        (one.st_mode, one.st_uid, one.st_mtime_ns, one.st_ctime_ns) for one in (file.stat(), file.parent.stat())
    ]
    assert os.listxattr(file) == ["user.there"]


@pytest.mark.parametrize("without", ["", "namespaces", "landlock"])
def test_no_lease_is_given_and_no_descriptor_leaves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, without: str
) -> None:
    monkeypatch.setenv(native.WITHOUT, without)

    def lease() -> None:
        with Path("own").open("wb") as own:
            fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_WRLCK)

    def send() -> None:
        one, _ = socket.socketpair()
        socket.send_fds(one, [b"x"], [os.memfd_create("away")])

    assert inside(lease, home=tmp_path) == "PermissionError"
    assert inside(send, home=tmp_path) == "PermissionError"


def test_own_files_take_rights_where_mounts_guard_the_others(tmp_path: Path) -> None:
    results = tmp_path / "results"
    results.mkdir()

    def work() -> int:
        for own in (Path("own"), results / "own"):
            own.touch()
            own.chmod(0o700)
        return Path("own").stat().st_mode & 0o777

    answer = inside(work, home=tmp_path, writes=[results])
    scratch = next(one for one in check.around_commands() if one.name == "scratch")
    assert answer == (0o700 if scratch.up else "PermissionError")


def test_folders_in_shared_memory_stay_where_they_are() -> None:
    """As with TMPDIR=/dev/shm."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as place:
        read, results = Path(place, "read"), Path(place, "results")
        read.write_text("input")
        results.mkdir()

        def work() -> int:
            return (results / "0.bin").write_text(read.read_text())

        assert inside(work, home=results, reads=[read], writes=[results]) == len("input")
        assert (results / "0.bin").read_text() == "input"
        assert inside(lambda: read.write_text("other"), home=results, reads=[read], writes=[results]) in REFUSED
