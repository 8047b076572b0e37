"""The batch itself: gives jobs to an engine, says how each ended, tries again what failed outside the audit."""

from __future__ import annotations

import errno
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from audit.apps import bundle
from audit.apps.batch import parameters
from audit.apps.batch.classify import EXECUTED, LOG, Outcome, classify
from audit.apps.batch.collection import Item
from audit.apps.batch.engine import Engine
from audit.apps.batch.folder import PARAMETERS, BatchFolder
from audit.apps.batch.keeper import Job
from audit.apps.batch.progress import Told
from audit.apps.batch.states import Attempt, End, Entry
from audit.model.errors import AuditError, BadInput

RETRIES = 2
"""Times an audit is tried again after a failure outside it."""
LOOK_S = 1.0


@dataclass(frozen=True)
class Plan:
    """What every audit of a batch has in common.

    `limit_s` is the outer wall-clock limit of an audit, `device` what the notebook is told.
    """

    notebook: Path
    device: str
    limit_s: float
    retries: int = RETRIES


class Batch:
    """Runs the items on an engine and keeps an entry for each as soon as something is known of it."""

    def __init__(self, items: Sequence[Item], plan: Plan, *, engine: Engine, folder: BatchFolder, told: Told) -> None:
        self._items = {item.name: item for item in items}
        self._plan = plan
        self._engine = engine
        self._folder = folder
        self._told = told
        self._started: dict[str, tuple[str, Entry]] = {}

    def run(self) -> None:
        """Until every item has an entry that is not `not run`.

        Raises:
            AuditError: the disk is full, or the engine is gone; every entry written before stays.
        """
        waiting = deque(item for item in self._items.values() if item.trouble is None)
        for item in self._items.values():
            if item.trouble is not None:
                self._refuse(item, item.trouble)
        try:
            while waiting or self._started:
                while waiting and len(self._started) < self._engine.slots:
                    self._start(waiting.popleft())
                for name, end in self._engine.ended(LOOK_S):
                    if self._end(name, end):
                        waiting.append(self._items[name])
                self._told.tick(self._started)
        except OSError as error:
            raise self._stopped(error) from error

    def _refuse(self, item: Item, trouble: str) -> None:
        fresh = self._folder.fresh(item, reason=trouble)
        self._folder.keep(fresh.model_copy(update={"state": "bad input"}))
        self._told.ended(item.name, "bad input", trouble, seconds=0.0)

    def _start(self, item: Item) -> None:
        kept, given = self._folder.clear(item)
        entry = kept or self._folder.fresh(item, reason="")
        entry = entry.model_copy(update={"state": "not run", "reason": "started and not ended", "verdict": None})
        self._folder.keep(entry)
        place = self._folder.of(item)
        device = self._plan.device if item.values.get("device", "auto") == "auto" else item.values["device"]
        parameters.write({**item.values, **given, "device": device}, place / PARAMETERS)
        self._started[item.name] = (datetime.now(UTC).isoformat(timespec="milliseconds"), entry)
        self._engine.start(
            Job(
                id=item.name,
                notebook=str(self._plan.notebook),
                parameters=str(place / PARAMETERS),
                executed=str(place / EXECUTED),
                log=str(place / LOG),
                folder=str(self._plan.notebook.parent),
                limit_s=self._plan.limit_s,
            )
        )

    def _end(self, name: str, end: End) -> bool:
        """Keeps what came of an attempt; True if another is due."""
        item, (started, entry) = self._items[name], self._started.pop(name)
        outcome = classify(end, item, self._folder.of(item))
        if outcome.state == "finished":
            outcome = self._bundled(item, outcome)
        attempt = Attempt(started_utc=started, end=end, state=outcome.state, reason=outcome.reason)
        change = {"state": outcome.state, "reason": outcome.reason, "verdict": outcome.verdict}
        entry = entry.model_copy(update={**change, "attempts": (*entry.attempts, attempt)})
        self._folder.keep(entry)
        if outcome.full:
            raise OSError(errno.ENOSPC, outcome.reason)
        again = outcome.state == "infrastructure" and self._failed_outside(entry) <= self._plan.retries
        if again:
            self._told.again(name, outcome.reason)
        else:
            self._told.ended(name, outcome.state, outcome.verdict or outcome.reason, seconds=end.seconds)
        return again

    def _failed_outside(self, entry: Entry) -> int:
        """Failures in a row outside the audit; a batch that goes on counts from the last other ending."""
        count = 0
        for attempt in reversed(entry.attempts):
            if attempt.state != "infrastructure":
                break
            count += 1
        return count

    def _bundled(self, item: Item, outcome: Outcome) -> Outcome:
        """The evidence again, now with the notebook that was executed."""
        try:
            bundle.make(self._folder.of(item), claim=item.folder, out=self._folder.path / f"{item.name}.zip")
        except BadInput as error:
            return Outcome("failed", f"its evidence could not be bundled: {error}", outcome.verdict)
        return outcome

    def _stopped(self, error: OSError) -> AuditError:
        what = "no space is left" if error.errno == errno.ENOSPC else f"cannot be written ({error.strerror})"
        return AuditError(f"{self._folder.path}: {what}; what has finished is kept: mend that and go on with --resume")
