"""The judge's side: the fork server and the supervisors forked from it, each the parent of one session at a time.

Sessions send their events through a native library, which is compiled once for this machine and cached.
"""

from __future__ import annotations

import os
import platform
import select
import shutil
import socket
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from audit.build.emulated import toolchain
from audit.build.emulated.cache import cache_folder, fingerprint, made
from audit.model.errors import AuditError, WorkerFailed
from audit.run import requests, wire
from audit.sandbox.surroundings import scrubbed

GRACE_S = 30.0
"""Seconds after a session's own limit by which its supervisor must have answered."""


class ForkServer:
    """The process that has imported torch; to fork a supervisor from it takes milliseconds and little memory."""

    def __init__(self, *, sandboxed: bool) -> None:
        self._channel, theirs = socket.socketpair()
        words = [str(library()), *([] if sandboxed else ["open"])]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "audit.run.fork_server", str(theirs.fileno()), *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C is for the audit, which ends it
                cwd=Path(__file__).resolve().parents[2],
                env={**scrubbed(os.environ), "OMP_NUM_THREADS": "1", "AUDIT_CACHE": str(cache_folder())},
            )

    def supervisor(self) -> Supervisor:
        """Return a new supervisor; requests written before it exists wait for it."""
        asked, asks = socket.socketpair()
        replies, replied = os.pipe()
        with asked:
            socket.send_fds(self._channel, [b"z"], [asked.fileno(), replied])
        os.close(replied)
        return Supervisor(asks, replies)

    def is_over(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End it with all its processes at once."""
        self._process.kill()

    def close(self) -> None:
        """End it, once its supervisors are closed. Where it was stopped it is killed, and its processes end with it."""
        self._channel.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Supervisor:
    """A trusted parent of one session at a time, or of a process that serves several.

    Args:
        asks: where it takes requests from.
        replies: the descriptor where its replies come.
    """

    def __init__(self, asks: socket.socket, replies: int) -> None:
        self._asks = asks
        self._replies = os.fdopen(replies, encoding="utf-8")

    def ask(self, request: requests.Request, descriptors: Sequence[int] = ()) -> wire.Ended:
        """Return how the session of a request ended.

        Raises:
            WorkerFailed: the supervisor was ended, or did not keep its own time limit.
        """
        try:
            wire.send(self._asks, request, descriptors)
            ready = select.select([self._replies], [], [], request.limit_s + GRACE_S)[0]
            line = self._replies.readline() if ready else None
        except OSError:
            line = ""
        if line is None:
            raise WorkerFailed("the process that watches over the session was stopped")
        if not line.endswith("\n"):
            raise WorkerFailed("the process that watches over the session was ended")
        return wire.Ended.model_validate_json(line)

    def close(self) -> None:
        """Close the socket, upon which it ends."""
        self._asks.close()
        self._replies.close()


SOURCE = Path(__file__).parent / "native" / "seal.cpp"
NAME = "libseal.so"
FLAGS = (
    "-std=c++17",
    "-O3",
    "-fPIC",
    "-shared",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-fno-rtti",
    "-Wl,-z,now,-z,relro,-Bsymbolic",
)
LIMIT_S = 120.0


@cache
def library(folder: Path | None = None) -> Path:
    """Return the path of the library, compiled if need be: a second, once.

    Args:
        folder: the cache; None is the user's.

    Raises:
        AuditError: no compiler, or it refuses the source; says what to install.
    """
    key = fingerprint([SOURCE.read_bytes(), *FLAGS, platform.machine()])
    target = (folder or cache_folder()) / "channel" / key
    made(target, _compile)
    return target / NAME


def _compile(unfinished: Path) -> None:
    compiler = shutil.which(toolchain.compiler_name())
    if compiler is None:
        raise AuditError("no C++ compiler: what sessions tell is sealed by native code (Debian: apt-get install g++)")
    command = [compiler, *FLAGS, str(SOURCE), "-o", str(unfinished / NAME)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise AuditError(
            f"{compiler} had not compiled {SOURCE.name} after {LIMIT_S:g} s; set CXX to another"
        ) from error
    if done.returncode:
        raise AuditError(f"{compiler} does not compile {SOURCE.name}: {done.stderr.strip()[:500]}")
