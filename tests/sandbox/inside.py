"""Runs a function in a forked process inside the sandbox, for tests."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from audit.sandbox import limits, policy
from audit.sandbox.limits import Bounds
from audit.sandbox.policy import Policy

LIMIT = Bounds(memory=1 << 30, data=4 << 30, disk=64 << 20, scratch=16 << 20, processes=40)

REFUSED = ("PermissionError", "OSError")
"""What the sandbox answers: Landlock and seccomp the first, a file system mounted for reading the second."""


def inside(
    function: Callable[[], Any],
    *,
    home: Path,
    reads: list[Path] | None = None,
    writes: list[Path] | None = None,
    limit: Bounds | None = None,
) -> Any:
    """What the function returned inside, or the name of what it raised; `home` is used where no other is offered."""
    result, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            around = Policy(
                rules=policy.system(),
                reads=[str(path) for path in reads or []],
                writes=[str(path) for path in writes or []],
                home=str(home),
                limit=limit or limits.of_this_machine(),
            )
            policy.enforce(around)
            answer = function()
        except BaseException as error:
            answer = type(error).__name__
        os.write(writer, json.dumps(answer).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(result, "rb") as heard:
        answer = json.loads(heard.read())
    os.waitpid(child, 0)
    return answer
