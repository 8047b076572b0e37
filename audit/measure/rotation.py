"""Fresh inputs for a timing session: the same shape from another seed, and what is right for them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from audit.probes.called import Case
from audit.probes.variations import LIMIT_S
from audit.run.pool import Workers
from audit.run.requests import Cases


def second_case(workers: Workers, *, reference: Path, like: Case, seed: int, folder: Path) -> Case | None:
    """Another case of the same shape, made in a process of its own; None where that fails.

    A kernel that keeps its last result, or knows its inputs by their address, shows its hand when inputs rotate.

    Args:
        workers: run the process.
        reference: the claim's `reference.py`.
        like: the case whose shape and dtype it shares.
        seed: for the inputs.
        folder: takes the files.
    """
    request = Cases(
        reference=reference,
        shapes=(like.shape,),
        seeds=(seed % 2**63,),
        cost_shape=like.shape,
        folder=folder,
        device="cuda",
    )
    reply = workers.call(request, limit_s=LIMIT_S)
    made = [event for event in reply.events if "case" in event]
    if not reply.finished or not made:
        return None
    return replace(like, inputs=folder / "0.inputs.pt").answered(reply, made[0])
