"""A process's descendants: who they are, and that none is left."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_PROC = Path("/proc")
_ROUNDS, _WAIT_S, _LONGEST_WAIT_S = 500, 0.001, 0.05


def descendants() -> list[int]:
    """Everything this process and its descendants started and that still runs, by the numbers `/proc` uses."""
    found: list[int] = []
    waiting = ["self"]
    while waiting:
        children = [child for task in _tasks(waiting.pop()) for child in _children(task)]
        found += map(int, children)
        waiting += children
    return found


def end_all(*, first: bool) -> None:
    """Ends every descendant, those that call setsid, fork twice or fork without end too, and reaps them.

    Args:
        first: this process is the first of a namespace: the kernel then ends all others in it at once. Elsewhere they
            are stopped first, so that none can fork between being seen and being ended.
    """
    for turn in range(_ROUNDS):
        strike(first=first)
        if not _reaped():
            return
        time.sleep(min(_LONGEST_WAIT_S, _WAIT_S * (turn + 1)))


def strike(*, first: bool) -> None:
    """Ends every descendant there is now, and waits for none; see `end_all`."""
    if first:
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        return
    stopped: set[int] = set()
    while fresh := set(descendants()) - stopped:
        _send(fresh, signal.SIGSTOP)
        stopped |= fresh
    _send(stopped, signal.SIGKILL)


def _send(processes: set[int], number: signal.Signals) -> None:
    for process in processes:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(process, number)


def _reaped() -> bool:
    """Collects those that have ended; whether any is left."""
    with suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    return False


def _tasks(process: str) -> Iterator[Path]:
    with suppress(OSError):  # it may have ended
        yield from (_PROC / process / "task").iterdir()


def _children(task: Path) -> list[str]:
    try:
        return (task / "children").read_text(encoding="ascii").split()
    except OSError:
        return []
