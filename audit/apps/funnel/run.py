"""A collection through the stages, one stage after another; each item's state is on disk before the next begins."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from audit.apps.funnel import state
from audit.apps.funnel.collection import Collection, Item
from audit.apps.funnel.stage import Setting, Stage
from audit.apps.funnel.stages import STAGES
from audit.apps.funnel.state import FunnelState, ItemState, Passage, StageRun
from audit.model.errors import AuditError, BadInput
from audit.report.progress import Progress
from audit.run.pool import Workers
from audit.scheduler import places

ITEMS, RECORDS, STATE = "items", "records", "funnel.json"
BATCH = 64
"""Items asked with the same worker processes: what these keep for an audit goes with them."""


class Funnel:
    """One funnel in progress or finished, as it lies in its folder.

    Args:
        collection: what goes in.
        out: the folder it lies in.
        resume: go on with what lies there; else the folder must hold no funnel.
        seed: of all inputs; None draws one. A resumed funnel keeps its own.

    Raises:
        BadInput: the folder holds a funnel and `resume` was not asked for, that of another collection, or no folder.
    """

    def __init__(self, collection: Collection, out: Path, *, resume: bool, seed: int | None = None) -> None:
        self.collection = collection
        self._out = out
        try:
            (out / ITEMS).mkdir(parents=True, exist_ok=True)
            (out / RECORDS).mkdir(exist_ok=True)
        except OSError as error:
            raise BadInput(f"{out}: cannot be written ({error.strerror}); choose another folder") from error
        _differ(collection)
        self.state = self._begun(resume, secrets.randbits(62) if seed is None else seed)
        self.items: dict[str, ItemState] = {item.key: self._known(item) for item in collection.items}
        self._keep_state()

    def run(self, stages: Sequence[Stage] = STAGES, *, progress: Progress) -> None:
        """Asks every stage about what is left; what was asked before is not asked again."""
        for stage in stages:
            waiting = self._waiting(stage)
            began = time.monotonic()
            with progress.stage(stage.name):
                progress.say(f"{len(waiting)} of {len(self.items)} items")
                for batch in _batches(waiting, BATCH):
                    self._ask(stage, batch, progress)
            if waiting:
                seconds = round(time.monotonic() - began, 2)
                done = StageRun(stage=stage.name, items=len(waiting), seconds=seconds, machine=stage.where())
                self.state = self.state.model_copy(update={"runs": (*self.state.runs, done)})
                self._keep_state()

    def _ask(self, stage: Stage, batch: Sequence[Item], progress: Progress) -> None:
        with _Processes(places(stage.at_once)) as processes, ThreadPoolExecutor(stage.at_once) as threads:
            setting = Setting((self._out / RECORDS).resolve(), self.state.seed, processes)
            asked = [threads.submit(self._ask_about, item, stage, setting, progress) for item in batch]
            try:
                for one in asked:
                    one.result()
            finally:
                threads.shutdown(cancel_futures=True)  # an interrupted funnel begins nothing more

    def _ask_about(self, item: Item, stage: Stage, setting: Setting, progress: Progress) -> None:
        """One item at one stage; its state is on disk before this returns."""
        with progress.doing(item.key):
            passage = _asked(stage, item, setting)
        self.items[item.key] = self.items[item.key].after(passage)
        state.write(self.items[item.key], self._out / ITEMS / f"{item.key}.json")
        if passage.outcome in ("settled", "no answer"):
            first = passage.reasons[0] if passage.reasons else ""
            progress.say(f"{item.key}: {passage.verdict or passage.outcome}: {first}")

    def _waiting(self, stage: Stage) -> list[Item]:
        """What that stage has not had and none has settled, with most hints first."""
        known = self.items
        left = [one for one in self.collection.items if not known[one.key].ended]
        return sorted(
            (one for one in left if not known[one.key].asked(stage.name)), key=lambda one: -known[one.key].hints
        )

    def _begun(self, resume: bool, seed: int) -> FunnelState:
        path, new = self._out / STATE, self.collection
        begun = FunnelState(collection=new.name, items=len(new.items), seed=seed, notes=new.notes)
        if not path.exists():
            return begun
        if not resume:
            raise BadInput(f"{self._out}: holds a funnel already; go on with --resume or choose another folder")
        known = state.read_funnel(path)
        if known.collection != new.name:
            raise BadInput(
                f"{self._out}: holds the funnel of {known.collection}, not of {new.name}; choose another folder"
            )
        return known.model_copy(update={"items": len(new.items), "notes": new.notes})

    def _known(self, item: Item) -> ItemState:
        """What lies on disk about an item, unless its files changed since."""
        path = self._out / ITEMS / f"{item.key}.json"
        if path.exists():
            known = state.read_item(path)
            if known.sha256 == item.sha256:
                return known
        return ItemState(item=item.key, sha256=item.sha256)

    def _keep_state(self) -> None:
        state.write(self.state, self._out / STATE)


def _differ(collection: Collection) -> None:
    keys = [item.key for item in collection.items]
    twice = next((key for key in keys if keys.count(key) > 1), None) if len(set(keys)) < len(keys) else None
    if twice is not None:
        raise BadInput(f"{collection.name}: two items are called {twice}; rename one")


class _Processes:
    """Worker processes that start when first asked for, and end with the body."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._made: Workers | None = None

    def __enter__(self) -> _Processes:
        return self

    def __exit__(self, *_: object) -> None:
        if self._made is not None:
            self._made.close()

    def __call__(self) -> Workers:
        with self._lock:
            self._made = self._made or Workers(self._size)
            return self._made


def _asked(stage: Stage, item: Item, setting: Setting) -> Passage:
    """The stage's passage with its seconds; what cannot be asked says why, and the others go on."""
    began = time.monotonic()
    try:
        passage = stage.ask(item, setting)
    except AuditError as error:
        passage = Passage(stage=stage.name, outcome="no answer", reasons=(str(error),))
    return passage.model_copy(update={"seconds": round(time.monotonic() - began, 3)})


def _batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    for first in range(0, len(items), size):
        yield items[first : first + size]
