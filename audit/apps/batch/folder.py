"""The folder of a batch: one folder a claim, the entries kept in them, and a lock that only one batch holds."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from audit.apps.batch import states
from audit.apps.batch.classify import LOG
from audit.apps.batch.collection import Item
from audit.apps.batch.parameters import Values
from audit.apps.batch.states import Entry
from audit.model import atomic, store
from audit.model.errors import BadInput
from audit.model.store import RECORD

LOCK = ".lock"
WAIT_S = 40.0
"""How long a batch waits for the processes of one that was killed a moment ago."""
EARLIER = ".earlier"
"""Where results go that do not hold any more, since the claim or its parameters changed: nothing is thrown away."""
PARAMETERS = "parameters.yaml"


class BatchFolder:
    """Where a batch keeps what it knows; every file of it is written in one step."""

    def __init__(self, path: Path, *, notebook: Path) -> None:
        self.path = path
        self._notebook = hashlib.sha256(notebook.read_bytes()).hexdigest()

    def of(self, item: Item) -> Path:
        """The folder of one claim's results."""
        return self.path / item.name

    def entry(self, item: Item) -> Entry | None:
        """What was kept of that claim; None where nothing was."""
        return states.read(self.of(item) / states.NAME)

    def fresh(self, item: Item, *, reason: str) -> Entry:
        """An entry before anything was tried."""
        return Entry(
            name=item.name,
            state="not run",
            reason=reason,
            sources=item.sources,
            parameters=item.values,
            notebook_sha256=self._notebook,
        )

    def finished(self, item: Item) -> Entry | None:
        """The entry of a claim that need not run again: it finished, its record is there, and nothing has changed."""
        kept = self.entry(item)
        if kept is None or kept.state != "finished" or not self._holds(kept, item):
            return None
        try:
            record = store.read(self.of(item) / RECORD)
        except BadInput:
            return None
        final = record.verdict.name != "incomplete" and record.claim.sources == item.sources
        return kept if final else None

    def clear(self, item: Item) -> tuple[Entry | None, Values]:
        """An empty folder for the next attempt; what lay there and was of other files is moved away.

        Returns:
            the entry whose attempts go on, if it is of the same files, and what the notebook is given.
        """
        place = self.of(item)
        kept = self.entry(item)
        if kept is not None and not self._holds(kept, item):
            self._move_away(place)
            kept = None
        place.mkdir(parents=True, exist_ok=True)
        _empty(place)
        return kept, {"claim": str(item.folder), "out": str(place), "interactive": False}

    def keep(self, entry: Entry) -> None:
        """Writes an entry."""
        path = self.path / entry.name / states.NAME
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.write(path, (entry.model_dump_json(by_alias=True, indent=1) + "\n").encode())

    def _holds(self, kept: Entry, item: Item) -> bool:
        return (kept.sources, kept.parameters, kept.notebook_sha256) == (item.sources, item.values, self._notebook)

    def _move_away(self, place: Path) -> None:
        earlier = self.path / EARLIER
        earlier.mkdir(exist_ok=True)
        number = sum(1 for one in earlier.iterdir() if one.name.startswith(f"{place.name}-")) + 1
        place.rename(earlier / f"{place.name}-{number}")


@contextmanager
def held(path: Path, *, resume: bool) -> Iterator[int]:
    """Makes the folder if need be and holds its lock; gives the descriptor that holds it.

    Raises:
        BadInput: it cannot be written, another batch is at work in it, or it holds a batch and `resume` was not said.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise BadInput(f"{path}: cannot be written ({error.strerror}); name another folder with --out") from error
    try:
        _lock(descriptor, path)
        if not resume and any(path.glob(f"*/{states.NAME}")):
            raise BadInput(f"{path}: holds a batch already; go on with it by --resume, or name another with --out")
        yield descriptor
    finally:
        os.close(descriptor)


def _empty(place: Path) -> None:
    """Leaves the entry and every attempt's log."""
    logs = len(list(place.glob(f"*{LOG}")))
    if (place / LOG).exists():
        (place / LOG).rename(place / f"{logs}-{LOG}")
    for one in place.iterdir():
        if one.is_dir() and not one.is_symlink():
            shutil.rmtree(one)
        elif one.name != states.NAME and not one.name.endswith(LOG):
            one.unlink()


def _lock(descriptor: int, path: Path) -> None:
    deadline = time.monotonic() + WAIT_S
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError as error:
            if time.monotonic() > deadline:
                raise BadInput(f"{path}: another batch is at work in it; wait for it, or end it") from error
            time.sleep(0.1)
