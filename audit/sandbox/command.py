"""Run one command in a sandbox from the judge's process: a compiler, or a tool that reads builds of untrusted code."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from audit.model.run_directory import Scratch
from audit.sandbox import limits, policy
from audit.sandbox.launch import LATE
from audit.sandbox.policy import scrubbed
from audit.sandbox.processes import MOST_PATIENCE

LAUNCHER = "audit.sandbox.launch"
NEVER_ENDED = -1
_LONGEST_REASON = 1000
_GRACE_S = 30.0
"""A launcher that runs this long past its own limit is killed from here."""
_running: set[subprocess.Popen[bytes]] = set()


@dataclass(frozen=True)
class Done:
    """How a command ended.

    Attributes:
        code: its exit code; over 128 a signal ended it.
        out: its standard output, at most `limits.PRINTED_BYTES`.
        err: its standard error, likewise.
        stopped: why the sandbox killed it, in words; empty if it did not.
    """

    code: int
    out: str
    err: str
    stopped: str


def run(
    command: Sequence[str],
    *,
    folder: Path,
    limit_s: float,
    reads: Sequence[Path] = (),
    network: bool = False,
    environment: Mapping[str, str] | None = None,
) -> Done:
    """Run a command in a sandbox; on return it and its descendants have ended.

    Args:
        command: the program and its arguments.
        folder: its working directory, readable and writable.
        limit_s: seconds, see `processes.Deadline`.
        reads: other files and folders it may read.
        network: whether it may open sockets, in a network without any other machine.
        environment: replaces the one of this process; scrubbed either way.
    """
    own = scrubbed(os.environ if environment is None else environment)
    own["PYTHONPATH"] = os.pathsep.join([str(policy.KIT.parent), *filter(None, [own.get("PYTHONPATH")])])
    with Scratch() as home, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        request = {
            "command": [*map(str, command)],
            "folder": str(folder),
            "reads": [str(path) for path in (*reads, *_tools(command[0]))],
            "caches": [str(folder)],
            "network": network,
            "rules": policy.system(),
            "home": str(home),
            "limit": limits.of_this_machine()._asdict(),
            "limit_s": limit_s,
        }
        code, reason = _launched(request, limit_s, environment=own, out=out, err=err)
        return Done(code, _text(out), _text(err), _stopped(reason, limit_s))


def _launched(
    request: dict[str, object], limit_s: float, *, environment: Mapping[str, str], out: IO[bytes], err: IO[bytes]
) -> tuple[int, str]:
    """Return the launcher's exit code and the reason why it killed the command, empty if it did not."""
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as reasons:
        with os.fdopen(writing, "wb"):
            launcher = subprocess.Popen(
                [sys.executable, "-S", "-m", LAUNCHER, json.dumps(request), str(writing)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                pass_fds=[writing],
                process_group=0,  # Ctrl-C goes to the audit, which ends the launcher
                cwd=policy.KIT.parent,
                env=dict(environment),
            )
        _running.add(launcher)
        try:
            return launcher.wait(MOST_PATIENCE * limit_s + _GRACE_S), reasons.read(_LONGEST_REASON).decode()
        except subprocess.TimeoutExpired:
            return NEVER_ENDED, LATE
        finally:
            _running.discard(launcher)
            launcher.kill()
            launcher.wait()


def end_all() -> None:
    """Kill every running command: for an interrupted audit."""
    for launcher in list(_running):
        launcher.kill()


def _stopped(reason: str, limit_s: float) -> str:
    if reason == LATE:
        return f"it had not ended after {limit_s:g} s"
    return f"it was ended: it {reason}" if reason else ""


def _tools(program: str) -> list[Path]:
    """Return the prefix of a program whose path is `<prefix>/bin/<program>`."""
    real = Path(os.path.realpath(program))
    return [real.parent.parent] if real.is_absolute() and real.parent.name == "bin" else []


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(limits.PRINTED_BYTES).decode("utf-8", errors="replace")
