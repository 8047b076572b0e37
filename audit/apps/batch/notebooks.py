"""The stage of a batch: the audit notebook of each item through papermill, in processes of its own."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from audit.apps import bundle
from audit.apps.batch import parameters, state
from audit.apps.batch.classify import EXECUTED, LOG, classify
from audit.apps.batch.items import Item
from audit.apps.batch.jobs import LocalJobs
from audit.apps.batch.keeper import Job
from audit.apps.batch.run import ITEMS, guarded
from audit.apps.batch.state import Attempt, End, ItemState, StageName
from audit.model import store
from audit.model.errors import BadInput
from audit.model.store import RECORD
from audit.run import environment

if TYPE_CHECKING:
    from audit.apps.batch.ray_jobs import RayJobs

EARLIER = ".earlier"
"""Folder for results of a claim or parameters that have changed since: nothing is thrown away."""
STATE = "state.json"


class Notebooks:
    """A stage of `run.py`, and its own engine: starts a job for an item, and classifies how it ended.

    Args:
        out: the folder of the batch; each item has one of its own in it.
        notebook: audits an item.
        device: given to the notebook of every item that names none.
        limit_s: the outer wall-clock limit of an audit.
        jobs: runs the notebooks; who opened it closes it.
    """

    name: StageName = "notebook"
    at_a_time = 1 << 30

    def __init__(self, out: Path, notebook: Path, device: str, limit_s: float, jobs: LocalJobs | RayJobs) -> None:
        self.out, self.slots = out, jobs.slots
        self._notebook, self._device, self._limit_s, self._jobs = notebook, device, limit_s, jobs
        self._started: dict[str, tuple[Item, str]] = {}

    def needs(self, item: Item, known: ItemState) -> bool:
        """Every item without a final record of its files."""
        return not finished(item, known, self.out)

    def where(self) -> str:
        """See `Stage`."""
        return environment.processor_and_cores()

    @contextmanager
    def engine(self, _out: Path, _seed: int) -> Iterator[Notebooks]:
        """See `Stage`."""
        yield self

    def start(self, item: Item) -> None:
        """See `Engine`; clears the item's folder and writes the notebook's parameters."""
        place = self.out / item.name
        clear(item, self.out)
        device = self._device if item.values.get("device", "auto") == "auto" else item.values["device"]
        given: parameters.Values = {"claim": str(item.folder), "out": str(place), "interactive": False}
        parameters.write({**item.values, **given, "device": device}, place / parameters.FILE)
        self._started[item.name] = item, datetime.now(UTC).isoformat(timespec="milliseconds")
        job = Job(
            id=item.name,
            notebook=str(self._notebook),
            parameters=str(place / parameters.FILE),
            executed=str(place / EXECUTED),
            log=str(place / LOG),
            folder=str(self._notebook.parent),
            limit_s=self._limit_s,
        )
        self._jobs.start(job)

    def ended(self, wait_s: float) -> list[tuple[str, Attempt]]:
        """See `Engine`."""
        ends = self._jobs.ended(wait_s)
        return [(name, guarded(self.name, partial(self._attempt, name, end))) for name, end in ends]

    def _attempt(self, name: str, end: End) -> Attempt:
        item, started = self._started.pop(name)
        place = self.out / name
        attempt = classify(end, item, place).model_copy(update={"started_utc": started})
        if attempt.outcome != "finished":
            return attempt
        try:  # the evidence again, now with the notebook that was executed
            bundle.make(place, claim=item.folder, out=self.out / f"{name}.zip")
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
    known = state.read(ItemState, kept) if kept.exists() else None
    if place.exists() and (known.sha256 != item.sha256 if known else (place / RECORD).exists()):
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
