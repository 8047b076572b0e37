"""Runs in a zygote: one forked process that serves sessions until it is ended, and the watch over it."""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Any, NoReturn

Serve = Callable[[dict[str, Any], Callable[[dict[str, Any]], None]], None]
MOST_BYTES = 64 << 20
"""A session that tells more than this is stopped."""
TAIL_BYTES = 4000
SERVED = b'{"served": true}\n'
"""The line after a session's last event: a process that ends without it has not finished, whatever its exit code."""


class Child:
    """A fresh process with a process group of its own.

    Args:
        kinds: what serves a request, by its key `kind`.
        hidden: descriptors the process must not have.
    """

    def __init__(self, kinds: dict[str, Serve], *, hidden: tuple[int, ...]) -> None:
        self._prints = tempfile.TemporaryFile()  # noqa: SIM115
        asked, self._ask = os.pipe()
        self._told, teller = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            for inherited in (self._ask, self._told, *hidden):
                os.close(inherited)
            _live(kinds, asked, teller, self._prints)
        os.close(asked)
        os.close(teller)

    def serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """One session: `lines` told, whether it `finished`; if not, the process is over, with `signal` or `exit` or
        `timed_out`, and `prints`, the end of what it printed."""
        with suppress(BrokenPipeError):  # a kept process may have ended since; the watch sees it
            os.write(self._ask, json.dumps(request).encode() + b"\n")
        told, timed_out = self._watch(deadline=time.monotonic() + request["limit_s"])
        finished = told.endswith(SERVED)
        lines = told.removesuffix(SERVED).decode("utf-8", "replace").splitlines()
        answer = {"lines": lines, "finished": finished, "timed_out": timed_out}
        if finished:
            return answer
        status = self._collect(patient=not timed_out)
        died = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        left = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        return {**answer, "signal": died, "exit": left, "prints": _tail(self._prints)}

    def end(self) -> None:
        """Ends the process and everything it started."""
        if self._pid:
            self._collect(patient=False)

    def _watch(self, *, deadline: float) -> tuple[bytes, bool]:
        """What was told until the session was served, the process ended, or time or patience ran out."""
        told = bytearray()
        ended = False
        while not ended and not told.endswith(SERVED):
            if time.monotonic() > deadline or len(told) > MOST_BYTES:
                return bytes(told), True
            if select.select([self._told], [], [], 0.05)[0]:
                chunk = os.read(self._told, 1 << 16)
                told += chunk
                ended = not chunk
            else:
                ended = _over(self._pid)
        return bytes(told), False

    def _collect(self, *, patient: bool) -> int:
        """The wait status; where the process has closed its pipe it is left the time to end by itself."""
        if not patient:
            _kill_group(self._pid)
        _, status = os.waitpid(self._pid, 0)
        _kill_group(self._pid)
        self._pid = 0
        os.close(self._ask)
        os.close(self._told)
        return status


def _live(kinds: dict[str, Serve], asked: int, teller: int, prints: IO[bytes]) -> NoReturn:
    """Serves until nobody asks any more; never returns. What a session raises ends the process."""
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(prints.fileno(), 1)
        os.dup2(prints.fileno(), 2)
        with os.fdopen(asked, encoding="utf-8") as requests, os.fdopen(teller, "w", encoding="utf-8") as out:
            for line in requests:
                request = json.loads(line)
                kinds[request["kind"]](request, lambda event: print(json.dumps(event), file=out, flush=True))
                print(SERVED.decode(), file=out, end="", flush=True)
        code = 0
    except BaseException:  # the traceback is all that is left of this process; the parent reports it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody left, or the child had not called setsid yet
        if not _over(leader):
            os.kill(leader, signal.SIGKILL)


def _over(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return True


def _tail(prints: IO[bytes]) -> str:
    size = prints.seek(0, os.SEEK_END)
    prints.seek(max(0, size - TAIL_BYTES))
    return prints.read().decode("utf-8", "replace")
