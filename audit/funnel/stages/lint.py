"""Published times against the hardware they name. Settles a time that no unit of that hardware allows."""

from __future__ import annotations

from typing import Any

from audit import lint
from audit.errors import BadInput
from audit.funnel.collection import Item
from audit.funnel.stage import Setting, Stage, claimed_of
from audit.funnel.state import Passage
from audit.gpus import table

LIMIT_S = 60.0
IMPOSSIBLE = "impossible time"
NO_CLAIM = "cannot be audited"


def ask(item: Item, setting: Setting) -> Passage:
    """Settled where a published time is under the floor of the fastest unit; left out where there is no claim."""
    if item.told is not None:
        return item.told
    try:
        folder = claimed_of(item)
    except BadInput as error:
        return Passage(stage="lint", outcome="left out", verdict=NO_CLAIM, reasons=(str(error),))
    claim = folder.claim
    if not any(one.gpu in table() for one in claim.observation):
        return Passage(stage="lint", outcome="passed on", reasons=("no time is published for a GPU with known rates",))
    request: dict[str, Any] = {
        "reference": str(folder.reference),
        "baselines": [],
        "shapes": [],
        "seeds": [],
        "cost_shape": dict(claim.shapes.claimed),
        "folder": str(setting.records),
        "device": "cpu",
    }
    reply = setting.workers().call("oracle", request, limit_s=LIMIT_S)
    if not reply.finished:
        text = f"reference.py gave no least work: {reply.ending}: {reply.detail}"
        return Passage(stage="lint", outcome="not asked", reasons=(text,))
    proved = [finding for finding in lint.floors(claim, reply.events[0]["cost"]) if finding.convicts]
    if not proved:
        return Passage(stage="lint", outcome="passed on", reasons=("no published time is under a proved floor",))
    reasons = tuple(finding.summary for finding in proved)
    return Passage(stage="lint", outcome="settled", verdict=IMPOSSIBLE, reasons=reasons)


STAGE = Stage(
    "lint",
    "Lint",
    "holds published times against the floor of the fastest unit of the GPU they name and settles impossible ones (the "
    "least work comes from the claim's reference.py, in a process of its own); leaves out what claims nothing: rows "
    "without code, rows their dataset marks wrong, code that stood in an earlier row of the same task",
    ask,
    at_once=2,
)
