"""A process that reviews sources: started by the first audit of this process, and asked by the next ones too, since to
start it takes longer than to review most sources."""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

LARGE = 1 << 20
"""Characters of requests after which a reviewer, which may hold gigabytes then, is not kept."""
_KIT = Path(__file__).resolve().parents[2]


class Reviewer:
    """One `python -m audit.review.hints SECONDS BYTES`, which ends when its standard input closes."""

    def __init__(self, limits: tuple[int, int]) -> None:
        self._made_by, self._limits = os.getpid(), limits
        self._process = subprocess.Popen(
            [sys.executable, "-m", "audit.review.hints", *map(str, limits)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="ascii",
            cwd=_KIT,
            process_group=0,  # Ctrl-C is for the audit, which ends it
        )

    def fits(self, limits: tuple[int, int]) -> bool:
        """Return whether it equals a reviewer started now with those limits."""
        return (self._made_by, self._limits) == (os.getpid(), limits) and self._process.poll() is None

    def ask(self, requests: str, count: int) -> list[str]:
        """Return the lines that answer the requests, fewer where one of them ended it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        with suppress(BrokenPipeError):
            self._process.stdin.write(requests + "\n")
            self._process.stdin.flush()
        lines = list(islice(self._process.stdout, count))
        return [line for line in lines if line.endswith("\n")]

    def close(self) -> int:
        """End it; return its exit code."""
        with suppress(BrokenPipeError):
            self._process.communicate()
        return self._process.returncode


_idle: list[Reviewer] = []
"""The reviewer of the last audit of this process."""


def ask(requests: Sequence[dict[str, Any]], limits: tuple[int, int]) -> tuple[int, list[str]]:
    """Return the lines that a reviewer with those limits answers, and its exit code if a request ended it."""
    reviewer, text = _taken(limits), json.dumps(requests)
    lines = reviewer.ask(text, len(requests))
    if len(lines) < len(requests) or len(text) > LARGE or _idle:
        return reviewer.close(), lines
    _idle.append(reviewer)
    return 0, lines


def _taken(limits: tuple[int, int]) -> Reviewer:
    """Return the idle reviewer, or a new one."""
    with suppress(IndexError):  # another thread may take it first
        if (reviewer := _idle.pop()).fits(limits):
            return reviewer
    return Reviewer(limits)


@atexit.register
def _forget() -> None:
    _idle.clear()  # their standard input closes
