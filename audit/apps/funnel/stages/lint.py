"""Published times against the hardware they name. Settles a time that no unit of that hardware allows."""

from __future__ import annotations

from audit.apps.funnel.collection import Item
from audit.apps.funnel.stage import Setting, Stage, claimed_of
from audit.apps.funnel.state import Passage
from audit.claims import ClaimFolder
from audit.lint import floors
from audit.model.errors import BadInput
from audit.model.gpus import table
from audit.run.requests import Cases

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
    if item.made is not None:
        return _passed_on("the lint over the dataset proves no time impossible")
    if not any(one.gpu in table() for one in folder.claim.observation):
        return _passed_on("no time is published for a GPU with known rates")
    return _against_floors(folder, setting)


def _against_floors(folder: ClaimFolder, setting: Setting) -> Passage:
    request = Cases(
        reference=folder.reference,
        shapes=(),
        seeds=(),
        cost_shape=folder.claim.shapes.claimed,
        folder=setting.records,
        device="cpu",
    )
    reply = setting.workers().call(request, limit_s=LIMIT_S)
    if not reply.finished:
        text = f"reference.py gave no least work: {reply.ending}: {reply.detail}"
        return Passage(stage="lint", outcome="no answer", reasons=(text,))
    proved = [finding for finding in floors.floors(folder.claim, reply.events[0]["cost"]) if finding.convicts]
    if not proved:
        return _passed_on("no published time is under a proved floor")
    reasons = tuple(finding.summary for finding in proved)
    return Passage(stage="lint", outcome="settled", verdict=IMPOSSIBLE, reasons=reasons)


def _passed_on(reason: str) -> Passage:
    return Passage(stage="lint", outcome="passed on", reasons=(reason,))


STAGE = Stage(
    "lint",
    "Lint",
    "holds published times against the floor of the fastest unit of the GPU they name and settles impossible ones (the "
    "least work comes from the claim's reference.py, in a process of its own); leaves out what claims nothing: rows "
    "without code, rows their dataset marks wrong, code that stood in an earlier row of the same task",
    ask,
    at_once=2,
)
