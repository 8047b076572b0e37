"""The judge's side: which walls stand around the sessions of a pool, as a session found that tried to get through."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from audit.containment import tried
from audit.model import Wall
from audit.worker.pool import Workers

LIMIT_S = 20.0


def walls(workers: Workers) -> tuple[Wall, ...]:
    """Every wall, tried from inside a session like any other; milliseconds once the workers have started."""

    def ask(request: dict[str, Any]) -> Mapping[str, str]:
        reply = workers.call("trial", request, limit_s=LIMIT_S)
        if not reply.finished:
            raise tried.TrialFailed(f"the trial of the walls failed: {reply.ending}: {reply.detail}")
        found: Mapping[str, str] = reply.events[0]["walls"]
        return found

    return tried.tried(ask)
