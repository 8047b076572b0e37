"""In a supervisor: fork one process that serves sessions, and watch it."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import IO, Any, NoReturn

from audit.run.messages import requests, wire
from audit.run.messages.event_writer import EventWriter
from audit.run.messages.wire import Channel, ProtocolViolation
from audit.sandbox import processes
from audit.sandbox.policy import Policy, enforce
from audit.sandbox.processes import Usage

Serve = Callable[[Any, EventWriter], Iterator[dict[str, Any]]]
"""Serves a request of one kind as an iterator of events."""
TAIL_BYTES = 4000
LATE = "late"
_LOOK_S, _IDLE_S = 0.01, 0.05
PR_SET_DUMPABLE = 4


class Child:
    """A process in a sandbox of its own; no process it starts outlives it.

    Args:
        kinds: the function that serves a request, by its `kind`.
        writer: sends the events.
        policy: the policy of the sandbox.
        hidden: descriptors the process must not have.
        first: whether this process is the first of a PID namespace, see `processes.end_all`.
    """

    def __init__(
        self, kinds: dict[str, Serve], writer: EventWriter, policy: Policy, *, hidden: tuple[int, ...], first: bool
    ) -> None:
        self._first = first
        self._prints = tempfile.TemporaryFile()  # noqa: SIM115
        asked, self._ask = socket.socketpair()
        self._channel = Channel()
        self._pid = os.fork()
        if self._pid == 0:
            inspectable(True)
            for inherited in (self._ask.fileno(), self._channel.fileno(), *hidden):
                os.close(inherited)
            writer.open(self._channel.theirs.detach())
            _serve(kinds, asked, writer, policy, self._prints)
        asked.close()
        self._channel.theirs.close()
        self._usage = Usage(policy.limit, [*policy.writes, *policy.caches], self._prints)

    def serve(self, request: requests.Request, descriptors: Sequence[int] = ()) -> wire.Ended:
        """Run one session; a session that does not finish ends the process."""
        self._channel.start()
        self._ask.settimeout(request.limit_s)
        with suppress(OSError):  # a reused process may have ended or read nothing; `_watch` sees it
            wire.send(self._ask, request, descriptors)
        stopped, violation = None, None
        deadline = processes.Deadline(request.limit_s)
        try:
            stopped = self._watch(deadline)
        except ProtocolViolation as seen:
            violation = str(seen)
        transcript = self._channel.transcript
        ended = wire.Ended(
            lines=tuple(event.decode("utf-8", "replace") for event in transcript.events) if violation is None else (),
            arrived_s=tuple(self._channel.arrived_s),
            finished=transcript.served and violation is None,
            violation=violation,
        )
        if ended.finished:
            return ended
        if stopped is None and violation is None and not _ends_by(self._pid, deadline):
            stopped = LATE
        status = self._collect()
        how = {
            "timed_out": stopped == LATE,
            "stopped": None if stopped == LATE else stopped,
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
        }
        return ended.model_copy(update={**how, "prints": _tail(self._prints)})

    def end(self) -> None:
        """End the process and its descendants."""
        if self._pid:
            self._collect()

    def _watch(self, deadline: processes.Deadline) -> str | None:
        """Read events until the session is served or its process ends or closes the channel; return `LATE` or the
        exceeded bound, which stop the session, else None. Raises ProtocolViolation: see `Channel.take`."""
        while not self._channel.transcript.served:
            if deadline.over():
                return LATE
            if (excess := self._usage.excess()) is not None:
                return excess
            if select.select([self._channel], [], [], _IDLE_S)[0]:
                if not self._channel.take():
                    break
            elif _over(self._pid):
                break
        return None

    def _collect(self) -> int:
        """End the process and its descendants; return its wait status."""
        if not _over(self._pid):
            processes.kill_all(first=self._first)
        _, status = os.waitpid(self._pid, 0)
        processes.end_all(first=self._first)
        self._pid = 0
        self._ask.close()
        self._channel.close()
        return status


def inspectable(allowed: bool) -> None:
    """Allow or forbid other processes of this user to read this process's memory and descriptors."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, int(allowed), 0, 0, 0)


def _serve(
    kinds: dict[str, Serve], asked: socket.socket, writer: EventWriter, policy: Policy, prints: IO[bytes]
) -> NoReturn:
    """Serve until the socket closes; never return. An exception of a session ends the process."""
    code = wire.RAISED
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(prints.fileno(), 1)
        os.dup2(prints.fileno(), 2)
        enforce(policy)
        while (got := wire.receive(asked)) is not None:
            request, descriptors = got
            if isinstance(request, requests.OracleRequest):
                request = request.model_copy(update={"results": descriptors[0]})
            writer.serve(kinds[request.kind](request, writer))
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # the parent reports the last line of the traceback
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _ends_by(pid: int, deadline: processes.Deadline) -> bool:
    """Return whether a process that closed its channel ends by itself within its limit."""
    while not _over(pid):
        if deadline.over():
            return False
        time.sleep(_LOOK_S)
    return True


def _over(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _tail(prints: IO[bytes]) -> str:
    size = prints.seek(0, os.SEEK_END)
    prints.seek(max(0, size - TAIL_BYTES))
    return prints.read().decode("utf-8", "replace")
