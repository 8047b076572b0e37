"""Find the parts of the sandbox that hold on this machine by trying each: for reports, `audit doctor` and tests."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import cache
from pathlib import Path

from audit.model import SandboxLimit
from audit.model.run_directory import Scratch, is_free
from audit.sandbox import attempts, command

LIMIT_S = 20.0
LIMITS: Mapping[str, str] = {
    "files": "reads and writes no files but its own and the system's",
    "processes": "reaches no process outside",
    "namespace": "every process it starts ends with it, also when the audit is killed",
    "network": "reaches no other machine",
    "calls": "cannot ask the kernel for namespaces, mounts, tracing and the like",
    "metadata": "changes no rights, times or attributes of files of others",
    "limits": "memory, file size and core files are limited",
    "privileges": "has no rights of root beyond those to files",
    "environment": "sees no variables but those it needs",
    "scratch": "temporary files and shared memory of its own, limited in size",
}
"""The effect of each part on a session or compiler inside it, by name, in the order of the report."""
FORMER: Mapping[str, str] = {"keys": "gets a key for what it tells only where the kit's own code waits for one"}
"""A part that records of earlier versions have."""
Ask = Callable[[attempts.Targets], Mapping[str, str]]


class CheckFailed(Exception):
    """The check itself failed; the text says how."""


def results(ask: Ask) -> tuple[SandboxLimit, ...]:
    """Return every part of the sandbox, as found by a process inside it.

    Args:
        ask: runs `attempts.run` with those targets inside a sandbox and returns its result. Raises CheckFailed.
    """
    with Scratch() as outside, Scratch() as inside:
        secret = outside / "secret"
        secret.write_text("not for claimed code", encoding="utf-8")
        targets = attempts.Targets(os.getpid(), secret=str(secret), elsewhere=str(outside), folder=str(inside))
        try:
            found = dict(ask(targets))
        except CheckFailed as failure:
            found = dict.fromkeys(LIMITS, str(failure))
        held = inside / attempts.HELD
        if held.exists() and not is_free(held):
            found["namespace"] = "a process outlived the session that started it"
    return tuple(
        SandboxLimit(name=name, up=not found.get(name, "not tried"), why=found.get(name, "not tried"))
        for name in LIMITS
    )


@cache
def around_commands() -> tuple[SandboxLimit, ...]:
    """Return the sandbox of compilers, checked once a process; that of sessions is the same, but loads torch."""
    return results(_asked_a_command)


def _asked_a_command(targets: attempts.Targets) -> Mapping[str, str]:
    program = [sys.executable, "-S", "-m", "audit.sandbox.attempts", json.dumps(asdict(targets))]
    done = command.run(program, folder=Path(targets.folder), limit_s=LIMIT_S)
    if done.code:
        last = (done.err.strip().splitlines() or [done.stopped or "no message"])[-1]
        raise CheckFailed(f"the sandbox check failed: {last}")
    answer: dict[str, str] = json.loads(done.out)
    return answer
