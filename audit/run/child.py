"""Runs in a zygote: one forked process that serves sessions until it is ended, and the watch over it."""

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

from audit.run import requests, wire
from audit.run.channel import Channel
from audit.run.event_writer import Teller
from audit.run.transcript import Forged
from audit.sandbox import tree
from audit.sandbox.usage import Usage
from audit.sandbox.walls import Walls, enclose

Serve = Callable[[Any, Teller], Iterator[dict[str, Any]]]
"""Answers a request of one kind, event by event."""
TAIL_BYTES = 4000
LATE = "late"
PR_SET_DUMPABLE = 4


class Child:
    """A fresh process inside walls of its own; nothing it starts outlives it.

    Args:
        kinds: what serves a request, by its `kind`.
        teller: what tells the events.
        walls: what the process may do.
        hidden: descriptors the process must not have.
        first: this process is the first of a namespace, see `tree.end_all`.
    """

    def __init__(
        self, kinds: dict[str, Serve], teller: Teller, walls: Walls, *, hidden: tuple[int, ...], first: bool
    ) -> None:
        self._first = first
        self._prints = tempfile.TemporaryFile()  # noqa: SIM115
        asked, self._ask = socket.socketpair()
        self._channel = Channel()
        self._pid = os.fork()
        if self._pid == 0:
            looked_at(True)
            for inherited in (self._ask.fileno(), self._channel.fileno(), *hidden):
                os.close(inherited)
            teller.open(self._channel.theirs.detach())
            _live(kinds, asked, teller, walls, self._prints)
        asked.close()
        self._channel.theirs.close()
        self._usage = Usage(walls.limit, [*walls.writes, *walls.caches], self._prints)

    def serve(self, request: requests.Request, descriptors: Sequence[int] = ()) -> dict[str, Any]:
        """One session: the `lines` told, when each came (`arrived_s`, seconds of this process's clock since it was
        asked), whether it `finished`, `forged` (what was seen of a foreign hand, None for nothing) and `attested` (see
        `Channel`). If not finished the process is over, with `signal` or `exit` or `timed_out` or `stopped` (which
        bound it was over), and `prints`, the end of what it printed."""
        self._channel.start()
        self._ask.settimeout(request.limit_s)
        with suppress(OSError):  # a kept process may have ended since, or take nothing; the watch sees it
            wire.send(self._ask, request, descriptors)
        stopped, forged = None, None
        deadline = time.monotonic() + request.limit_s
        try:
            stopped = self._watch(deadline=deadline)
        except Forged as seen:
            forged = str(seen)
        told = self._channel.transcript
        answer = {
            "lines": [event.decode("utf-8", "replace") for event in told.events] if forged is None else [],
            "arrived_s": self._channel.arrived_s,
            "attested": self._channel.attested,
            "finished": told.served and forged is None,
            "forged": forged,
        }
        if not answer["finished"] and stopped is None and forged is None and not _over_by(self._pid, deadline):
            stopped = LATE
        answer |= {"timed_out": stopped == LATE, "stopped": None if stopped == LATE else stopped}
        if answer["finished"]:
            return answer
        status = self._collect()
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        left = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        return {**answer, "signal": died, "exit": left, "prints": _tail(self._prints)}

    def end(self) -> None:
        """Ends the process and everything it started."""
        if self._pid:
            self._collect()

    def _watch(self, *, deadline: float) -> str | None:
        """Listens until the session was served, its process ended or closed its end, or `LATE`, or a bound it was over.
        Raises Forged."""
        while not self._channel.transcript.served:
            if time.monotonic() > deadline:
                return LATE
            if (over := self._usage.over()) is not None:
                return over
            if select.select([self._channel], [], [], self._channel.pause_s)[0]:
                if not self._channel.take():
                    break
            elif _over(self._pid):
                break
            else:
                self._channel.look()
        return None

    def _collect(self) -> int:
        """The wait status of the process, which has ended or is ended with all it started."""
        if not _over(self._pid):
            tree.strike(first=self._first)
        _, status = os.waitpid(self._pid, 0)
        tree.end_all(first=self._first)
        self._pid = 0
        self._ask.close()
        self._channel.close()
        return status


def looked_at(allowed: bool) -> None:
    """Whether others of this user may look into this process: at its memory, its descriptors, where it waits."""
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, int(allowed), 0, 0, 0)


def _live(kinds: dict[str, Serve], asked: socket.socket, teller: Teller, walls: Walls, prints: IO[bytes]) -> NoReturn:
    """Serves until nobody asks any more; never returns. What a session raises ends the process."""
    code = wire.RAISED
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(prints.fileno(), 1)
        os.dup2(prints.fileno(), 2)
        enclose(walls)
        while (got := wire.receive(asked)) is not None:
            request, descriptors = got
            if isinstance(request, requests.OracleRequest):
                request = request.model_copy(update={"results": descriptors[0]})
            teller.serve(kinds[request.kind](request, teller))
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BaseException:  # the traceback is all that is left of this process; the parent reports it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _over_by(pid: int, deadline: float) -> bool:
    """Whether a process that no longer speaks has ended by then: it is left the time to do so by itself."""
    process = os.pidfd_open(pid)
    try:
        return bool(select.select([process], [], [], max(0.0, deadline - time.monotonic()))[0])
    finally:
        os.close(process)


def _over(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _tail(prints: IO[bytes]) -> str:
    size = prints.seek(0, os.SEEK_END)
    prints.seek(max(0, size - TAIL_BYTES))
    return prints.read().decode("utf-8", "replace")
