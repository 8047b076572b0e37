"""In the judge's process: find the parts of the sandbox that hold for the sessions of a pool, by a session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from audit.model import SandboxLimit
from audit.run.pool import Workers
from audit.run.requests import SandboxCheck
from audit.sandbox import check
from audit.sandbox.attempts import Targets

LIMIT_S = 20.0
FORMER: Mapping[str, str] = {"keys": "gets a key for what it tells only where the kit's own code waits for one"}
"""A part that records of earlier versions have."""


def results(workers: Workers) -> tuple[SandboxLimit, ...]:
    """Return every part of the sandbox, tried from inside a session."""

    def ask(targets: Targets) -> Mapping[str, str]:
        reply = workers.call(SandboxCheck(targets=targets, folder=Path(targets.folder)), limit_s=LIMIT_S)
        if not reply.finished:
            raise check.CheckFailed(f"the sandbox check failed: {reply.ending}: {reply.detail}")
        found: Mapping[str, str] = reply.events[0]["results"]
        return found

    return check.results(ask)
