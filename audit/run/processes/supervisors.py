"""In the judge's process: the fork server and its supervisors, each the parent of one session at a time."""

from __future__ import annotations

import atexit
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import audit
from audit.build.cache import cache_folder
from audit.model.errors import WorkerFailed
from audit.run.messages import requests, wire
from audit.sandbox import processes
from audit.sandbox.policy import scrubbed

GRACE_S = 30.0
"""Seconds after a session's own limit within which its supervisor must answer."""


class ForkServer:
    """The process that has imported torch; it forks a supervisor in milliseconds and with little memory."""

    def __init__(self) -> None:
        self._channel, theirs = socket.socketpair()
        self._made_by, self._environment = os.getpid(), _environment()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "audit.run.processes.fork_server", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                process_group=0,  # Ctrl-C goes to the audit, which ends the fork server
                cwd=Path(audit.__file__).resolve().parents[1],
                env=self._environment,
            )

    def fits(self) -> bool:
        """Return whether it equals a fork server started now."""
        return self._made_by == os.getpid() and self._environment == _environment() and not self.is_over()

    def settled(self) -> bool:
        """Have it end its descendants; return whether it confirms in time."""
        try:
            self._channel.send(wire.SETTLE)
            return bool(select.select([self._channel], [], [], GRACE_S)[0]) and self._channel.recv(1) == wire.SETTLE
        except OSError:
            return False

    def supervisor(self) -> Supervisor:
        """Return a new supervisor; its socket takes requests before it runs."""
        asked, asks = socket.socketpair()
        replies, replied = os.pipe()
        with asked:
            socket.send_fds(self._channel, [wire.FORK], [asked.fileno(), replied])
        os.close(replied)
        return Supervisor(asks, replies)

    def import_compiler(self) -> None:
        """Have torch.compile imported before the next supervisor is forked."""
        with suppress(OSError):  # over, as its next supervisor will show
            self._channel.send(wire.COMPILER)

    def is_over(self) -> bool:
        """Return whether the process has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """Kill it, and with it all its processes."""
        self._process.kill()

    def close(self) -> None:
        """End it after its supervisors; kill it if it does not end in time."""
        self._channel.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


_idle: list[ForkServer] = []
"""The idle fork server of the last audit of this process: importing torch takes longer than many an audit."""


def fork_server() -> ForkServer:
    """Return the idle fork server of an earlier audit of this process, or a new one."""
    while _idle:
        server = _idle.pop()
        if server.fits():
            return server
        server.close()
    return ForkServer()


def release(server: ForkServer) -> None:
    """Keep a fork server for the next audit of this process, if its descendants have ended; else end it."""
    if not _idle and server.fits() and server.settled():
        _idle.append(server)
    else:
        server.close()


@atexit.register
def _close_idle() -> None:
    while _idle:
        server = _idle.pop()
        try:
            server.close()
        except KeyboardInterrupt:  # the answer is out
            server.kill()


HUGE_PAGES = "glibc.malloc.hugetlb=1"
"""A setting of glibc: large arrays take pages of 2 MiB, each of which is mapped once and not 512 times."""


NO_POOL = {"TORCH_WARM_POOL": "0"}
"""The import of torch.compile starts no processes."""


def _environment() -> dict[str, str]:
    own = {"OMP_NUM_THREADS": "1", "GLIBC_TUNABLES": HUGE_PAGES, "AUDIT_CACHE": str(cache_folder()), **NO_POOL}
    return {**scrubbed(os.environ), **own}


class Supervisor:
    """A trusted parent of one session at a time, or of a process that serves several.

    Args:
        asks: the socket for requests.
        replies: the descriptor of its replies.
    """

    def __init__(self, asks: socket.socket, replies: int) -> None:
        self._asks = asks
        self._replies = os.fdopen(replies, encoding="utf-8")
        self._process: int | None = None  # a pidfd, once its PID is known
        self._number = ""

    def ask(self, request: requests.Request, descriptors: Sequence[int] = ()) -> wire.Ended:
        """Run a request's session and return how it ended. Raises WorkerFailed: no answer of the supervisor in time."""
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
        """Close the socket, which ends the supervisor."""
        self._asks.close()
        self._replies.close()
        if self._process is not None:
            os.close(self._process)
            self._process = None

    def _introduced(self, limit_s: float) -> str | None:
        """Read its first line, its PID. Raises OSError where it has ended since."""
        line = self._line(limit_s)
        if line:
            self._number = line.strip()
            self._process = os.pidfd_open(int(self._number))
        return line

    def _line(self, limit_s: float) -> str | None:
        """Return the next line, empty at the end; None where none comes within the limit."""
        ready = select.select([self._replies], [], [], limit_s)[0]
        return self._replies.readline() if ready else None

    def _end(self) -> None:
        """Kill it and its descendants: a session that stopped it would go on."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._process, signal.SIGSTOP)
                processes.kill_all(first=False, of=self._number)
                signal.pidfd_send_signal(self._process, signal.SIGKILL)
