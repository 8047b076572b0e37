"""System calls refused inside the sandbox, and that all others work; no call ends a process."""

from __future__ import annotations

import ctypes
import os
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from audit.sandbox import filters, native
from tests.sandbox.inside import inside

WALL = "calls"
pytestmark = pytest.mark.usefixtures("wall")
NEW_USER_NAMESPACE = 0x10000000
IO_URING_SETUP, CLONE3 = 425, 435


@pytest.mark.parametrize(
    "attempt",
    [
        lambda: socket.socket(socket.AF_INET).close(),
        lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).close(),
        lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close(),
        lambda: native.unshare(NEW_USER_NAMESPACE),
        lambda: native.mount("none", "/", "", 1 << 18),
        lambda: native.call(IO_URING_SETUP, 1, None),
        lambda: native.call({"x86_64": 29, "aarch64": 194}[native.MACHINE], 0, 4096, 0o1600),
        lambda: native.call({"x86_64": 101, "aarch64": 117}[native.MACHINE], 0, 0, 0, 0),
        lambda: native.call({"x86_64": 302, "aarch64": 261}[native.MACHINE], os.getppid(), 4, None, None),
    ],
    ids=[
        "internet",
        "internet6",
        "netlink",
        "namespace",
        "mount",
        "io_uring",
        "shmget",
        "ptrace",
        "prlimit of another",
    ],
)
def test_refused(attempt, tmp_path: Path) -> None:
    assert inside(attempt, home=tmp_path) == "PermissionError"


def test_clone_with_a_namespace_is_refused_and_clone3_looks_absent(tmp_path: Path) -> None:
    clone = {"x86_64": 56, "aarch64": 220}[native.MACHINE]
    assert inside(lambda: native.call(clone, NEW_USER_NAMESPACE | 17, 0, 0, 0, 0), home=tmp_path) == "PermissionError"

    def errno_of_clone3() -> int:
        try:
            native.call(CLONE3, ctypes.create_string_buffer(88), 88)
        except OSError as error:
            return error.errno or 0
        return 0

    assert inside(errno_of_clone3, home=tmp_path) == 38


def test_threads_programs_pipes_and_local_sockets_work(tmp_path: Path) -> None:
    def work() -> list[object]:
        seen: list[object] = []
        thread = threading.Thread(target=lambda: seen.append("thread"))
        thread.start()
        thread.join()
        seen.append(subprocess.run(["echo", "program"], capture_output=True, text=True, check=True).stdout.strip())
        one, other = socket.socketpair()
        one.send(b"socket")
        return [*seen, other.recv(9).decode()]

    assert inside(work, home=tmp_path) == ["thread", "program", "socket"]


@pytest.mark.parametrize("machine", filters.MACHINES)
def test_every_jump_of_the_program_stays_inside_it(machine: str) -> None:
    for network in (False, True):
        code = filters.program(machine, network=network)
        steps = [(code[at + 2], code[at + 3], code[at]) for at in range(0, len(code), 8)]
        for place, (true, false, kind) in enumerate(steps):
            assert place + 1 + max(true, false) < len(steps) or kind == 0x06
        assert steps[-1][2] == 0x06 and len(code) % 8 == 0
