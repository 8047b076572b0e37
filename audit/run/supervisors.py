"""The judge's side: the fork server and the supervisors forked from it, each the parent of one session at a time.

Sessions send their events through a native library, which is compiled once for this machine and cached.
"""

from __future__ import annotations

import atexit
import os
import platform
import select
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from audit.build.emulated import toolchain
from audit.build.emulated.cache import cache_folder, fingerprint, made
from audit.model.errors import AuditError, WorkerFailed
from audit.run import requests, wire
from audit.sandbox import processes
from audit.sandbox.surroundings import scrubbed

GRACE_S = 30.0
"""Seconds after a session's own limit by which its supervisor must have answered."""


class ForkServer:
    """The process that has imported torch; to fork a supervisor from it takes milliseconds and little memory."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self._made_by, self._environment = os.getpid(), _environment()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "audit.run.fork_server", str(theirs.fileno()), str(library())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C is for the audit, which ends it
                cwd=Path(__file__).resolve().parents[2],
                env=self._environment,
            )

    def fits(self) -> bool:
        """Whether it is as one started now would be."""
        return self._made_by == os.getpid() and self._environment == _environment() and not self.is_over()

    def settled(self) -> bool:
        """Have it end every process below it; return whether it says so in time."""
        try:
            self._channel.send(wire.SETTLE)
            return bool(select.select([self._channel], [], [], GRACE_S)[0]) and self._channel.recv(1) == wire.SETTLE
        except OSError:
            return False

    def supervisor(self) -> Supervisor:
        """Return a new supervisor; requests written before it exists wait for it."""
        asked, asks = socket.socketpair()
        replies, replied = os.pipe()
        with asked:
            socket.send_fds(self._channel, [wire.FORK], [asked.fileno(), replied])
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


_left: list[ForkServer] = []
"""What the last audit of this process left: importing torch takes longer than many an audit."""


def fork_server() -> ForkServer:
    """Return the fork server that an earlier audit of this process left, or a new one."""
    while _left:
        server = _left.pop()
        if server.fits():
            return server
        server.close()
    return ForkServer()


def leave(server: ForkServer) -> None:
    """Keep a fork server for the next audit of this process, if every process below it has ended; else end it."""
    if not _left and server.fits() and server.settled():
        _left.append(server)
    else:
        server.close()


@atexit.register
def _end_what_is_left() -> None:
    while _left:
        _left.pop().close()


def _environment() -> dict[str, str]:
    return {**scrubbed(os.environ), "OMP_NUM_THREADS": "1", "AUDIT_CACHE": str(cache_folder())}


class Supervisor:
    """A trusted parent of one session at a time, or of a process that serves several.

    Args:
        asks: where it takes requests from.
        replies: the descriptor where its replies come.
    """

    def __init__(self, asks: socket.socket, replies: int) -> None:
        self._asks = asks
        self._replies = os.fdopen(replies, encoding="utf-8")
        self._process: int | None = None  # its descriptor, once it has said its number
        self._number = ""

    def ask(self, request: requests.Request, descriptors: Sequence[int] = ()) -> wire.Ended:
        """Return how the session of a request ended.

        Raises:
            WorkerFailed: the supervisor was ended, or did not keep its own time limit.
        """
        limit_s = processes.MOST_PATIENCE * request.limit_s + GRACE_S
        try:
            line = self._number or self._introduced(limit_s)
            if line:
                wire.send(self._asks, request, descriptors)
                line = self._line(limit_s)
        except OSError:
            line = ""
        if line is None:
            self._end()
            raise WorkerFailed("the process that watches over the session was stopped")
        if not line.endswith("\n"):
            raise WorkerFailed("the process that watches over the session was ended")
        return wire.Ended.model_validate_json(line)

    def close(self) -> None:
        """Close the socket, upon which it ends."""
        self._asks.close()
        self._replies.close()
        if self._process is not None:
            os.close(self._process)
            self._process = None

    def _introduced(self, limit_s: float) -> str | None:
        """Return its first line, the number of its process. Raises OSError where that has ended since."""
        line = self._line(limit_s)
        if line:
            self._number = line.strip()
            self._process = os.pidfd_open(int(self._number))
        return line

    def _line(self, limit_s: float) -> str | None:
        """Return the next line, empty at the end; None where none comes within so many seconds."""
        ready = select.select([self._replies], [], [], limit_s)[0]
        return self._replies.readline() if ready else None

    def _end(self) -> None:
        """Kill it with everything below it: a session that stopped it would go on."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGSTOP)
                processes.strike(first=False, of=self._number)
                signal.pidfd_send_signal(self._process, signal.SIGKILL)


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
