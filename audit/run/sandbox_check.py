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
KEYS = "keys"
OF_THE_CHANNEL: Mapping[str, str] = {KEYS: "gets a key for what it tells only where the kit's own code waits for one"}
"""The part that only the parent of a session can check, in addition to `check.LIMITS`."""
UNSEEN = "this machine does not tell where a process waits"


def results(workers: Workers) -> tuple[SandboxLimit, ...]:
    """Return every part of the sandbox, tried from inside a session."""
    attested: list[bool] = []

    def ask(targets: Targets) -> Mapping[str, str]:
        reply = workers.call(SandboxCheck(targets=targets, folder=Path(targets.folder)), limit_s=LIMIT_S)
        attested.append(reply.attested)
        if not reply.finished:
            raise check.CheckFailed(f"the sandbox check failed: {reply.ending}: {reply.detail}")
        found: Mapping[str, str] = reply.events[0]["results"]
        return found

    found = check.results(ask)
    return (*found, SandboxLimit(name=KEYS, up=any(attested), why="" if any(attested) else UNSEEN))
