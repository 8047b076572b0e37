"""The judge's side: a few zygotes, and one call that runs a session in a fresh process and says how it ended."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from audit.errors import WorkerFailed

Ending = Literal["finished", "raised", "crashed", "timed out"]


@dataclass(frozen=True)
class Reply:
    """How a session ended and what it told before that, event by event.

    `detail` is for people: the signal, the traceback's last line, or the time limit.
    """

    ending: Ending
    events: tuple[dict[str, Any], ...]
    detail: str

    @property
    def finished(self) -> bool:
        """True if the session ran to its end."""
        return self.ending == "finished"


class Workers:
    """A pool of zygotes, one session at a time in each. Use as a context manager; safe to call from several threads."""

    def __init__(self, size: int) -> None:
        self._idle: queue.SimpleQueue[_Zygote] = queue.SimpleQueue()
        self._all = [_Zygote() for _ in range(size)]
        for zygote in self._all:
            self._idle.put(zygote)

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the zygotes; no session may be running."""
        for zygote in self._all:
            zygote.close()

    def call(self, kind: str, request: dict[str, Any], *, limit_s: float) -> Reply:
        """Runs one session of that kind ("session" or "oracle") in a fresh process.

        Args:
            kind: the worker module that serves it.
            request: JSON; see the module's docstring for its keys.
            limit_s: wall-clock seconds after which its process group is killed.

        Raises:
            WorkerFailed: the zygote itself died.
        """
        zygote = self._idle.get()
        try:
            return _reply(zygote.ask({**request, "kind": kind, "limit_s": limit_s}), limit_s)
        finally:
            self._idle.put(zygote)


class _Zygote:
    def __init__(self) -> None:
        reader, writer = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "audit.worker.zygote", str(writer)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            pass_fds=[writer],
            cwd=Path(__file__).resolve().parents[2],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            text=True,
        )
        os.close(writer)
        self._replies = os.fdopen(reader, encoding="utf-8")

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._replies.readline()
        except BrokenPipeError as error:
            raise WorkerFailed("the worker's parent process died; run the audit again") from error
        if not line:
            raise WorkerFailed("the worker's parent process died; run the audit again")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self._replies.close()


def _reply(answer: dict[str, Any], limit_s: float) -> Reply:
    events = tuple(json.loads(line) for line in answer["lines"] if _is_json(line))
    if answer["timed_out"]:
        return Reply("timed out", events, f"did not finish within {limit_s:g} s")
    if answer["signal"]:
        return Reply("crashed", events, f"the process died of {signal.Signals(answer['signal']).name}")
    last = answer["prints"].strip().splitlines()[-1:] or ["no message"]
    if answer["exit"]:
        return Reply("raised", events, last[0])
    return Reply("finished", events, "")


def _is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:  # half a line from a process that died while writing
        return False
