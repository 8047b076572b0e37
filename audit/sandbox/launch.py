"""Run one command in a sandbox: `python -S -m audit.sandbox.launch SPECIFICATION DESCRIPTOR`.

The specification is JSON: `command`, `folder`, `reads`, `caches`, `rules`, `network`, `home`, `limit` (a `Bounds`),
`limit_s`. The exit code is the command's; if the launcher killed the command, the descriptor gets the reason. Slow
imports are left out: an audit starts a compiler hundreds of times.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
from typing import Any, NoReturn

from audit.sandbox import limits, native, processes
from audit.sandbox.limits import Bounds
from audit.sandbox.namespaces import become_first, wait_for
from audit.sandbox.policy import Policy, enforce
from audit.sandbox.processes import Usage

LATE = "late"
"""The reason where time ran out; other reasons are in words."""
NOT_STARTED = 127
_LOOK_S = 0.1
_SLACK_S = 5.0


def main() -> int:
    """Start the command, watch it, and end its remaining descendants."""
    request = json.loads(sys.argv[1])
    reasons = int(sys.argv[2])
    os.set_inheritable(reasons, False)
    native.die_with_parent(signal.SIGKILL)
    native.adopt_orphans()
    limit = Bounds(**request["limit"])
    child = os.fork()
    if child == 0:
        os._exit(_first(request, limit))
    with os.fdopen(1, "rb", closefd=False) as prints:
        reason = _watch(child, Usage(limit, request["caches"], prints), processes.Deadline(request["limit_s"]))
    if reason is not None:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    processes.end_all(first=False)
    os.write(reasons, (reason or "").encode())
    return os.waitstatus_to_exitcode(status) & 0xFF


def _first(request: dict[str, Any], limit: Bounds) -> int:
    """Run the command as a child of this process, the first of a PID namespace where one is offered."""
    native.die_with_parent(signal.SIGKILL)
    first = become_first()
    child = os.fork()
    if child == 0:
        _run(request, limit)
    code = wait_for(child)
    processes.end_all(first=first)
    return code


def _run(request: dict[str, Any], limit: Bounds) -> NoReturn:
    try:
        policy = Policy(
            reads=request["reads"],
            caches=request["caches"],
            rules=[(path, rights) for path, rights in request["rules"]],
            network=request["network"],
            processor_s=request["limit_s"] * limits.cores() + _SLACK_S,
            home=request["home"],
            limit=limit,
        )
        enforce(policy)
        os.chdir(request["folder"])
        os.execvp(request["command"][0], request["command"])
    except BaseException as error:  # this is a fork of the launcher: it must not return into `main`
        print(f"error: {request['command'][0]} cannot be started: {error}", file=sys.stderr, flush=True)
    finally:
        os._exit(NOT_STARTED)


def _watch(child: int, usage: Usage, deadline: processes.Deadline) -> str | None:
    """Wait for the child; return why it has to be killed, None if it ended."""
    ended = os.pidfd_open(child)
    try:
        while not select.select([ended], [], [], _LOOK_S)[0]:
            if deadline.over():
                return LATE
            if (excess := usage.excess()) is not None:
                return excess
    finally:
        os.close(ended)
    return None


if __name__ == "__main__":
    sys.exit(main())
