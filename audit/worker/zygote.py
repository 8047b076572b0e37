"""The trusted parent: imports torch once, then forks a fresh process a session and outlives what happens there.

Protocol: one JSON request a line on standard input, one JSON reply a line on the descriptor given as the only argument.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import tempfile
import time
import traceback
from typing import IO, Any

import torch

from audit.worker import oracle, session, timing

KINDS = {"oracle": oracle.run, "session": session.run, "timing": timing.run}
MOST_BYTES = 64 << 20
"""A session that tells more than this is stopped."""
TAIL_BYTES = 4000


def main() -> None:
    """Answers requests until standard input ends."""
    torch.set_num_threads(1)
    replies = os.fdopen(int(sys.argv[1]), "w", encoding="utf-8")
    for line in sys.stdin:
        request = json.loads(line)
        replies.write(json.dumps(_serve(request, replies.fileno())) + "\n")
        replies.flush()


def _serve(request: dict[str, Any], replies: int) -> dict[str, Any]:
    with tempfile.TemporaryFile() as prints:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os.close(replies)  # the judge hears the parent only
            _child(request, writer, prints)
        os.close(writer)
        told, status, timed_out = _watch(child, reader, deadline=time.monotonic() + request["limit_s"])
        return {
            "lines": told.decode("utf-8", "replace").splitlines(),
            "signal": os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
            "exit": os.WEXITSTATUS(status) if os.WIFEXITED(status) else None,
            "timed_out": timed_out,
            "prints": _tail(prints),
        }


def _child(request: dict[str, Any], writer: int, prints: IO[bytes]) -> None:
    """Runs the session and never returns: the exit code is 0 only if it ran to its end."""
    code = 1
    try:
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(prints.fileno(), 1)
        os.dup2(prints.fileno(), 2)
        with os.fdopen(writer, "w", encoding="utf-8") as out:
            KINDS[request["kind"]](request, lambda event: print(json.dumps(event), file=out, flush=True))
        code = 0
    except BaseException:  # the traceback is all that is left of this process; the parent reports it
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _watch(child: int, reader: int, *, deadline: float) -> tuple[bytes, int, bool]:
    """What the child told, its wait status, and whether it had to be stopped; ends its whole process group."""
    told = bytearray()
    timed_out = ended = False
    while not ended and not timed_out:
        timed_out = time.monotonic() > deadline or len(told) > MOST_BYTES
        if select.select([reader], [], [], 0.05)[0]:
            chunk = os.read(reader, 1 << 16)
            told += chunk
            ended = not chunk
        elif os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            ended = True
    os.close(reader)
    if timed_out:
        _kill_group(child)
    _, status = os.waitpid(child, 0)
    _kill_group(child)
    return bytes(told), status, timed_out


def _kill_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # nobody left, or the child had not called setsid yet
        os.kill(leader, signal.SIGKILL) if _alive(leader) else None


def _alive(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    except ChildProcessError:
        return False


def _tail(prints: IO[bytes]) -> str:
    size = prints.seek(0, os.SEEK_END)
    prints.seek(max(0, size - TAIL_BYTES))
    return prints.read().decode("utf-8", "replace")


if __name__ == "__main__":
    main()
