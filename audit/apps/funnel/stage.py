"""What a stage is, and what every stage is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from audit import claims
from audit.apps.funnel.collection import Item
from audit.apps.funnel.state import Passage, StageName
from audit.claims import ClaimFolder
from audit.model.errors import BadInput
from audit.run import environment
from audit.run.pool import Workers


@dataclass(frozen=True)
class Setting:
    """What stages share: the folder for records, the seed of all inputs, and worker processes, started when needed."""

    records: Path
    seed: int
    workers: Callable[[], Workers]


@dataclass(frozen=True)
class Stage:
    """One stage.

    Args:
        name: as told and stored.
        title: for people.
        asks: what it asks, and what it can settle.
        ask: takes an item that no stage before settled.
        at_once: items at work at once.
        where: names the machine its time passes on.
    """

    name: StageName
    title: str
    asks: str
    ask: Callable[[Item, Setting], Passage]
    at_once: int = 1
    where: Callable[[], str] = environment.processor_and_cores


def claimed_of(item: Item) -> ClaimFolder:
    """The item's claim with nothing but its claimed kernel: ablations and repairs explain, they settle nothing.

    Raises:
        BadInput: the folder is broken, cannot be made, or has no claimed kernel.
    """
    if item.made is not None and not item.folder.exists():
        item.made(item.folder)
    folder = claims.load(str(item.folder.resolve()))
    claimed = folder.claim.claimed
    if claimed is None:
        raise BadInput(f"{item.key}: no variant of role claimed")
    statement = folder.claim.model_copy(update={"variant": (claimed,)})
    return replace(folder, audited=folder.audited.model_copy(update={"statement": statement}))
