"""The stage of a batch: the audit notebook of each item through papermill, and the outcome of each attempt.

The outcome follows from return code, signals and the record; the word of papermill is not enough. Of a kernel that died
its notebook says that every cell completed; of `sys.exit(0)` in a cell the return code is 0. So finished means: return
code 0, and a final record of the very sources the batch was asked about.
"""

from __future__ import annotations

import json
import shutil
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from audit.apps import bundle
from audit.apps.batch import parameters, state
from audit.apps.batch.items import Item
from audit.apps.batch.jobs import LocalJobs
from audit.apps.batch.run import ITEMS, guarded
from audit.apps.batch.state import EXECUTED, FULL, LOG, Attempt, End, ItemState, Job, Outcome, StageName
from audit.model import store
from audit.model.errors import BadInput
from audit.model.store import RECORD

if TYPE_CHECKING:
    from audit.apps.batch.ray_jobs import RayJobs

EARLIER = ".earlier"
"""Folder for results of a claim or parameters that have changed since: nothing is thrown away."""
STATE = "state.json"


class Notebooks:
    """A stage of `run.py`: runs the notebook for an item as a job, and classifies how it ended.

    Each item has a folder of its own in `out`. `device` is given to the notebook of every item that names none;
    `limit_s` is the outer wall-clock limit of an audit. Who opened `jobs` closes it. A notebook that takes a seed gets
    that of the run.
    """

    name: StageName = "notebook"
    at_a_time = 1 << 30

    def __init__(self, out: Path, notebook: Path, device: str, limit_s: float, jobs: LocalJobs | RayJobs) -> None:
        self.out, self.slots, self.stop = out, jobs.slots, jobs.stop
        self._notebook, self._device, self._limit_s, self._jobs = notebook, device, limit_s, jobs
        self._takes_seed = "seed" in parameters.defaults(notebook)

    def needs(self, item: Item, known: ItemState) -> bool:
        """Every item that no screening settled or left out, without a final record of its files."""
        return known.state not in ("settled", "left out") and not finished(item, known, self.out)

    @contextmanager
    def asking(self, _out: Path, seed: int) -> Iterator[Callable[[Item], Attempt]]:
        """See `Stage`."""
        yield partial(self._ask, {"seed": seed} if self._takes_seed else {})

    def _ask(self, common: parameters.Values, item: Item) -> Attempt:
        """Clears the item's folder, writes the notebook's parameters and runs it."""
        place = self.out / item.name
        try:
            claim = str(item.made())
        except BadInput as error:
            return Attempt(stage=self.name, outcome="bad input", reasons=(str(error),))
        clear(item, self.out)
        device = self._device if item.values.get("device", "auto") == "auto" else item.values["device"]
        given: parameters.Values = {"claim": claim, "device": device, "out": str(place), "interactive": False}
        parameters.write({**common, **item.values, **given}, place / parameters.FILE)
        started = datetime.now(UTC).isoformat(timespec="milliseconds")
        asked, folder = str(self._notebook), str(self._notebook.parent)
        end = self._jobs.run(Job(notebook=asked, folder=folder, out=str(place), limit_s=self._limit_s))
        return guarded(self.name, lambda: self._attempt(item, end)).model_copy(update={"started_utc": started})

    def _attempt(self, item: Item, end: End) -> Attempt:
        place = self.out / item.name
        attempt = classify(end, item, place)
        if attempt.outcome != "finished":
            return attempt
        try:  # the evidence again, now with the notebook that was executed
            bundle.make(place, claim=item.folder, out=self.out / f"{item.name}.zip")
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
    return record.verdict.name != "incomplete" and set(item.sources) <= set(record.claim.sources)


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


DEAD_KERNEL = 138
"""papermill's return code where the kernel died."""
STARTING = ("Kernel died before replying", "Kernel didn't respond", "Address already in use", "No such kernel")
OUTSIDE = ("WorkerFailed", "MemoryError")
"""Exceptions of an audit where something outside it failed."""


def classify(end: End, item: Item, folder: Path) -> Attempt:
    """The attempt whose results lie in `folder`."""
    outcome: Outcome
    verdict = ""
    if end.trouble is not None:
        outcome, reason = "infrastructure", end.trouble
    elif end.timed_out:
        outcome, reason = "timed out", f"not over after {end.seconds:.0f} s; all its processes were killed"
    elif end.signal is not None or end.returncode == DEAD_KERNEL:
        outcome, reason = _died(end)
    elif end.returncode != 0:
        outcome, reason = _raised(end, folder)
    else:
        outcome, reason, verdict = _of_record(item, folder / RECORD)
    reasons = (reason,) if reason else ()
    return Attempt(stage="notebook", outcome=outcome, verdict=verdict, reasons=reasons, seconds=end.seconds, end=end)


def _died(end: End) -> tuple[Outcome, str]:
    """SIGKILL comes from outside: the system sends it where memory runs out. Any other signal is the audit's own."""
    process = "papermill" if end.signal is not None else "the notebook's kernel"
    number = end.signal if end.signal is not None else end.kernel_signal
    if number is None:
        return "crashed", f"{process} died"
    text = f"{process} died of {signal.Signals(number).name}"
    if number == signal.SIGKILL:
        return "infrastructure", f"{text}; nothing of this batch sent it: memory may have run out"
    return "crashed", text


def _raised(end: End, folder: Path) -> tuple[Outcome, str]:
    name, text = _error(folder / EXECUTED)
    try:
        log = (folder / LOG).read_text(encoding="utf-8", errors="replace")[-4000:]
    except OSError:
        log = ""
    last = log.strip().rpartition("\n")[2].strip()[:400] or "it printed nothing"
    if name is None:
        if any(words in log for words in STARTING):
            return "infrastructure", f"the notebook's kernel did not start: {last}"
        return "infrastructure" if FULL in last else "failed", f"papermill ended with {end.returncode}: {last}"
    if name == "BadInput":
        return "bad input", text
    return "infrastructure" if name in OUTSIDE or FULL in text else "failed", f"{name}: {text}"


def _of_record(item: Item, path: Path) -> tuple[Outcome, str, str]:
    try:
        record = store.read(path)
    except BadInput:
        return "failed", f"the notebook ended and left no {RECORD}", ""
    if not set(item.sources) <= set(record.claim.sources):  # which has headers too, once a compiler has read them
        return "failed", f"{RECORD} is of other files than the claim had when the batch began", ""
    if record.verdict.name == "incomplete":
        return "failed", "the notebook ended before the audit did: its record is incomplete", ""
    return "finished", "", record.verdict.name


def _error(path: Path) -> tuple[str | None, str]:
    """Name and text of the first error a cell of the executed notebook shows; (None, "") where none does."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        first = next(output for output in outputs if output["output_type"] == "error")
    except (OSError, ValueError, KeyError, StopIteration):
        return None, ""
    return str(first["ename"]), " ".join(str(first["evalue"]).split())
