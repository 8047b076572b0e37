"""A collection through the stages, one stage after another over all items; each item's state is on disk at once."""

from __future__ import annotations

import errno
import secrets
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Protocol

from audit.apps.batch import state
from audit.apps.batch.items import Collection, Item
from audit.apps.batch.state import Attempt, ItemState, RunState, StageName, StageRun
from audit.model import atomic
from audit.model.errors import BadInput
from audit.model.run_directory import Hold
from audit.report.progress import Progress
from audit.run.processes import environment

ITEMS, STATE = "items", "run.json"
WAIT_S = 40.0
"""Seconds that a run waits for the processes of one that was killed a moment ago."""
RETRIES = 2
"""Times an item is tried again after a failure outside it."""


def guarded(stage: StageName, work: Callable[[], Attempt]) -> Attempt:
    """The attempt that `work` returns; whatever it raises ends this item in the state `error` and no other item."""
    try:
        return work()
    except Exception as error:  # a file of others may break any parser; the other items go on
        frames = traceback.extract_tb(error.__traceback__)
        own = [one for one in frames if "audit" in Path(one.filename).parts][-1]
        text = f"{type(error).__name__}: {error} ({Path(own.filename).name}, line {own.lineno})"
        return Attempt(stage=stage, outcome="error", reasons=(text,))


class Stage(Protocol):
    """One question to every item that needs it."""

    @property
    def name(self) -> StageName:
        """Its name, in progress and in states."""

    @property
    def slots(self) -> int:
        """Items that may be at work at once, each in a thread of its own."""

    @property
    def at_a_time(self) -> int:
        """Items that one `asking` is for."""

    def asking(self, out: Path, seed: int) -> AbstractContextManager[Callable[[Item], Attempt]]:
        """What asks an item of the run in that folder, with that seed of all inputs; its processes end with the body.

        It may raise OSError, which ends the run.
        """

    def stop(self) -> None:
        """Ends what is asked at this moment, if that would take long."""

    def needs(self, item: Item, known: ItemState) -> bool:
        """Return whether the item is to be asked, now or on resuming."""


class Run:
    """One run in progress or finished, as it lies in its folder `out`, which `held` has made.

    With `resume` it goes on with the run in the folder, else the folder must hold none. `seed` is that of all inputs:
    None draws one, and a resumed run keeps its own.

    Raises:
        BadInput: the folder holds a run and `resume` was not asked for, that of other items, or no folder.
    """

    def __init__(
        self, collection: Collection, out: Path, *, resume: bool, seed: int | None = None, progress: Progress
    ) -> None:
        self.collection = collection
        self._out, self._progress = out, progress
        self.state = self._begun(resume, secrets.randbits(62) if seed is None else seed)
        self.items: dict[str, ItemState] = {item.name: self._known(item) for item in collection.items}

    def run(self, stages: Sequence[Stage]) -> None:
        """Asks every stage about the items that need it. Raises OSError: a state cannot be written; every one written
        before stays."""
        state.write(self.state, self._out / STATE)
        for stage in stages:
            needed = [item for item in self.collection.items if self._is_due(item, stage)]
            waiting = sorted(needed, key=lambda item: -self.items[item.name].hints)
            began = time.monotonic()
            with self._progress.stage(stage.name):
                self._progress.say(f"{len(waiting)} of {len(self.items)} items")
                self._progress.begin(len(waiting))
                self._ask(stage, waiting)
            if waiting:
                seconds = round(time.monotonic() - began, 2)
                machine = environment.processor_and_cores()
                done = StageRun(stage=stage.name, items=len(waiting), seconds=seconds, machine=machine)
                self.state = self.state.model_copy(update={"runs": (*self.state.runs, done)})
                state.write(self.state, self._out / STATE)

    def _is_due(self, item: Item, stage: Stage) -> bool:
        known = self.items[item.name]
        return item.known != known.last if item.known else stage.needs(item, known)

    def _ask(self, stage: Stage, items: Sequence[Item]) -> None:
        rest = [item for item in items if item.known is None]
        for item in items:
            if item.known is not None:
                self._keep(item, item.known)
        for first in range(0, len(rest), stage.at_a_time):
            with stage.asking(self._out.resolve(), self.state.seed) as ask, ThreadPoolExecutor(stage.slots) as threads:
                try:
                    self._work(threads, stage.slots, ask, rest[first : first + stage.at_a_time])
                except BaseException:
                    stage.stop()
                    raise

    def _work(self, threads: Executor, slots: int, ask: Callable[[Item], Attempt], items: Sequence[Item]) -> None:
        waiting, started = deque(items), dict[Future[Attempt], Item]()
        while waiting or started:
            while waiting and len(started) < slots:
                item = waiting.popleft()
                started[threads.submit(self._shown, ask, item)] = item
            for done in wait(started, return_when=FIRST_COMPLETED).done:
                item = started.pop(done)
                if self._keep(item, done.result()):
                    waiting.append(item)

    def _shown(self, ask: Callable[[Item], Attempt], item: Item) -> Attempt:
        with self._progress.doing(item.name):
            return ask(item)

    def _keep(self, item: Item, attempt: Attempt) -> bool:
        """Keeps what came of an attempt; True if another is due."""
        after = self.items[item.name].after(attempt)
        self.items[item.name] = after
        state.write(after, self._file(item))
        if attempt.disk_full:
            raise OSError(errno.ENOSPC, attempt.reason)
        again = attempt.outcome == "infrastructure" and after.failed_outside() <= RETRIES
        if again:
            self._progress.say(f"{item.name}: tried again: {attempt.reason}")
            return True
        self._progress.advance()
        if attempt.outcome not in ("passed on", "left out"):
            text = ": ".join(filter(None, (item.name, attempt.outcome, attempt.verdict, attempt.reason)))
            self._progress.say(f"{text} ({attempt.seconds:.1f} s); {self._progress.left()}")
        return False

    def _begun(self, resume: bool, seed: int) -> RunState:
        path, new = self._out / STATE, self.collection
        begun = RunState(collection=new.name, items=len(new.items), seed=seed, notes=new.notes)
        if not path.exists():
            return begun
        if not resume:
            raise BadInput(f"{self._out}: holds a run already; go on with --resume, or name another folder with --out")
        known = state.read(RunState, path)
        if known.collection != new.name and not any(self._file(item).exists() for item in new.items):
            raise BadInput(
                f"{self._out}: holds the run of {known.collection}, not of {new.name}; choose another folder"
            )
        return known.model_copy(update={"collection": new.name, "items": len(new.items), "notes": new.notes})

    def _known(self, item: Item) -> ItemState:
        """The state on disk of an item, unless its files changed since."""
        path = self._file(item)
        if path.exists():
            known = state.read(ItemState, path)
            if known.sha256 == item.sha256:
                return known
        return ItemState(item=item.name, sha256=item.sha256, parameters=item.values)

    def _file(self, item: Item) -> Path:
        return self._out / ITEMS / f"{item.name}.json"


@contextmanager
def held(out: Path) -> Iterator[Hold]:
    """Makes the folder if need be and holds its lock. Raises BadInput: it cannot be written, or another run is at work
    in it."""
    with atomic.writing(out, "name another folder with --out"):
        (out / ITEMS).mkdir(parents=True, exist_ok=True)
    with closing(Hold(out, patience_s=WAIT_S)) as hold:
        yield hold
