"""The judge's side: the trusted parents of sessions, one root and the zygotes that are forked from it, see `zygote`."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from audit.build.emulated.cache import cache_folder
from audit.model.errors import WorkerFailed
from audit.run import requests, sealed, wire
from audit.sandbox.surroundings import scrubbed

GRACE_S = 30.0
"""So much later than a session's own limit a zygote must have answered."""


class Root:
    """The process that has imported torch; zygotes are forked from it, which takes milliseconds and little memory."""

    def __init__(self, *, walled: bool) -> None:
        self._channel, theirs = socket.socketpair()
        told = [str(sealed.library()), *([] if walled else ["open"])]
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "audit.run.fork_server", str(theirs.fileno()), *told],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                cwd=Path(__file__).resolve().parents[2],
                env={**scrubbed(os.environ), "OMP_NUM_THREADS": "1", "AUDIT_CACHE": str(cache_folder())},
            )

    def zygote(self) -> Zygote:
        """A new one; requests written before it exists wait for it."""
        asked, asks = socket.socketpair()
        replies, replied = os.pipe()
        with asked:
            socket.send_fds(self._channel, [b"z"], [asked.fileno(), replied])
        os.close(replied)
        return Zygote(asks, replies)

    def is_over(self) -> bool:
        """True if somebody has ended it."""
        return self._process.poll() is not None

    def close(self) -> None:
        """Ends it; its zygotes must have been closed. One that somebody stopped is killed, and all of it ends too."""
        self._channel.close()
        try:
            self._process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Zygote:
    """A trusted parent of one session at a time, or of a process that serves several.

    Args:
        asks: where it takes requests from.
        replies: the descriptor where its replies come.
    """

    def __init__(self, asks: socket.socket, replies: int) -> None:
        self._asks = asks
        self._replies = os.fdopen(replies, encoding="utf-8")

    def ask(self, request: requests.Request, descriptors: Sequence[int] = ()) -> dict[str, Any]:
        """The reply to a request, which names its own `limit_s`.

        Raises:
            WorkerFailed: the zygote was ended, or keeps its own time limit no more.
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
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """Asks nothing more, with which it ends."""
        self._asks.close()
        self._replies.close()
