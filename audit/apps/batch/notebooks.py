"""The stage of a batch: the audit notebook of each item through papermill, in processes of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from audit.apps import bundle
from audit.apps.batch import parameters, state
from audit.apps.batch.classify import EXECUTED, LOG, classify
from audit.apps.batch.items import Item
from audit.apps.batch.jobs import Jobs
from audit.apps.batch.keeper import Job
from audit.apps.batch.run import ITEMS, Setting, guarded
from audit.apps.batch.state import Attempt, End, ItemState, StageName
from audit.model import store
from audit.model.errors import BadInput
from audit.model.store import RECORD
from audit.run import environment

EARLIER = ".earlier"
"""Folder for results of a claim or parameters that have changed since: nothing is thrown away."""
STATE = "state.json"


@dataclass(frozen=True)
class Notebooks:
    """See `Stage` of `run.py`.

    Args:
        out: the folder of the batch; each item has one of its own in it.
        notebook: audits an item.
        device: given to the notebook of every item that names none.
        limit_s: the outer wall-clock limit of an audit.
        jobs: runs the notebooks.
    """

    out: Path
    notebook: Path
    device: str
    limit_s: float
    jobs: Jobs
    name: StageName = "notebook"
    at_a_time: int = 1 << 30

    def needs(self, item: Item, known: ItemState) -> bool:
        """Every item without a final record of its files."""
        return not finished(item, known, self.out)

    def where(self) -> str:
        """See `Stage`."""
        return environment.processor_and_cores()

    @contextmanager
    def engine(self, _: Setting) -> Iterator[NotebookEngine]:
        """The engine; `Wanted.opened` ends its jobs."""
        yield NotebookEngine(self)


class NotebookEngine:
    """Starts a job for an item, and classifies how it ended."""

    def __init__(self, stage: Notebooks) -> None:
        self._stage = stage
        self._started: dict[str, tuple[Item, str]] = {}

    @property
    def slots(self) -> int:
        """See `Engine`."""
        return self._stage.jobs.slots

    def start(self, item: Item) -> None:
        """See `Engine`; clears the item's folder and writes the notebook's parameters."""
        stage, place = self._stage, self._stage.out / item.name
        clear(item, stage.out)
        device = stage.device if item.values.get("device", "auto") == "auto" else item.values["device"]
        given: parameters.Values = {"claim": str(item.folder), "out": str(place), "interactive": False}
        parameters.write({**item.values, **given, "device": device}, place / parameters.FILE)
        self._started[item.name] = item, datetime.now(UTC).isoformat(timespec="milliseconds")
        stage.jobs.start(
            Job(
                id=item.name,
                notebook=str(stage.notebook),
                parameters=str(place / parameters.FILE),
                executed=str(place / EXECUTED),
                log=str(place / LOG),
                folder=str(stage.notebook.parent),
                limit_s=stage.limit_s,
            )
        )

    def ended(self, wait_s: float) -> list[tuple[str, Attempt]]:
        """See `Engine`."""
        ends = self._stage.jobs.ended(wait_s)
        return [(name, guarded(self._stage.name, partial(self._attempt, name, end))) for name, end in ends]

    def _attempt(self, name: str, end: End) -> Attempt:
        item, started = self._started.pop(name)
        place = self._stage.out / name
        attempt = classify(end, item, place).model_copy(update={"started_utc": started})
        if attempt.outcome != "finished":
            return attempt
        try:  # the evidence again, now with the notebook that was executed
            bundle.make(place, claim=item.folder, out=self._stage.out / f"{name}.zip")
        except BadInput as error:
            why = f"its evidence could not be bundled: {error}"
            return attempt.model_copy(update={"outcome": "failed", "reasons": (why,)})
        return attempt


def finished(item: Item, known: ItemState, out: Path) -> bool:
    """Return whether an item need not run again: it finished with the same files, and its final record is there."""
    if known.state != "finished":
        return False
    try:
        record = store.read(out / item.name / RECORD)
    except BadInput:
        return False
    return record.verdict.name != "incomplete" and record.claim.sources == item.sources


def clear(item: Item, out: Path) -> None:
    """Makes an empty folder for the next attempt, with the logs of those before.

    Results of other files or parameters are moved to `EARLIER`, their state with them.
    """
    place, kept = out / item.name, out / ITEMS / f"{item.name}.json"
    if _of_others(item, place, kept):
        (out / EARLIER).mkdir(exist_ok=True)
        number = sum(1 for one in (out / EARLIER).iterdir() if one.name.startswith(f"{item.name}-")) + 1
        if kept.exists():
            kept.rename(place / STATE)
        place.rename(out / EARLIER / f"{item.name}-{number}")
    place.mkdir(parents=True, exist_ok=True)
    logs = len(list(place.glob(f"*{LOG}")))
    if (place / LOG).exists():
        (place / LOG).rename(place / f"{logs}-{LOG}")
    for one in place.iterdir():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        elif not one.name.endswith(LOG):
            one.unlink()


def _of_others(item: Item, place: Path, kept: Path) -> bool:
    """Return whether the folder holds results of other files or parameters, or a record that no state speaks of."""
    if not place.exists() or not kept.exists():
        return (place / RECORD).exists()
    return state.read(ItemState, kept).sha256 != item.sha256
