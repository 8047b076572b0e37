"""What an attempt came to: from return code, signals and the record. papermill's own word is not enough.

Of a kernel that died papermill's notebook says that every cell completed; of `sys.exit(0)` in a cell the return code
is 0. So finished means: return code 0, and a final record of the very sources the batch was asked about.
"""

from __future__ import annotations

import errno
import json
import signal
from dataclasses import dataclass
from pathlib import Path

from audit.apps.batch.collection import Item
from audit.apps.batch.states import End, State
from audit.model import VerdictName, store
from audit.model.errors import BadInput
from audit.model.store import RECORD

DEAD_KERNEL = 138
"""papermill's return code where the kernel died."""
STARTING = ("Kernel died before replying", "Kernel didn't respond", "Address already in use", "No such kernel")
EXECUTED, LOG = "executed.ipynb", "log.txt"
FULL = f"[Errno {errno.ENOSPC}]"
OUTSIDE = ("WorkerFailed", "MemoryError")
"""What the audit raises where something outside it failed."""


@dataclass(frozen=True)
class Outcome:
    """The state of an attempt, why, and the verdict if there is one; `full` where the disk was."""

    state: State
    reason: str
    verdict: VerdictName | None = None
    full: bool = False


def classify(end: End, item: Item, folder: Path) -> Outcome:
    """What to say of an attempt whose results lie in `folder`."""
    if end.trouble is not None:
        return Outcome("infrastructure", end.trouble, full=FULL in end.trouble)
    if end.timed_out:
        return Outcome("timed out", f"not over after {end.seconds:.0f} s; all its processes were killed")
    if end.signal is not None or end.returncode == DEAD_KERNEL:
        return _died(end)
    if end.returncode != 0:
        return _raised(end, folder)
    return _of_record(item, folder / RECORD)


def _died(end: End) -> Outcome:
    """SIGKILL comes from outside: the system sends it where memory runs out. Any other signal is the audit's own."""
    who = "papermill" if end.signal is not None else "the notebook's kernel"
    number = end.signal if end.signal is not None else end.kernel_signal
    if number is None:
        return Outcome("crashed", f"{who} died")
    told = f"{who} died of {signal.Signals(number).name}"
    if number == signal.SIGKILL:
        return Outcome("infrastructure", f"{told}; nothing of this batch sent it: memory may have run out")
    return Outcome("crashed", told)


def _raised(end: End, folder: Path) -> Outcome:
    name, text = _error(folder / EXECUTED)
    last = _last_line(folder / LOG)
    if name is None:
        starting = next((words for words in STARTING if words in _tail(folder / LOG)), None)
        if starting is not None:
            return Outcome("infrastructure", f"the notebook's kernel did not start: {last}")
        full = FULL in last
        return Outcome(
            "infrastructure" if full else "failed", f"papermill ended with {end.returncode}: {last}", full=full
        )
    if name == "BadInput":
        return Outcome("bad input", text)
    if FULL in text:
        return Outcome("infrastructure", f"{name}: {text}", full=True)
    return Outcome("infrastructure" if name in OUTSIDE else "failed", f"{name}: {text}")


def _of_record(item: Item, path: Path) -> Outcome:
    try:
        record = store.read(path)
    except BadInput:
        return Outcome("failed", f"the notebook ended and left no {RECORD}")
    if record.claim.sources != item.sources:
        return Outcome("failed", f"{RECORD} is of other files than the claim had when the batch began")
    if record.verdict.name == "incomplete":
        return Outcome("failed", "the notebook ended before the audit did: its record is incomplete")
    return Outcome("finished", "", record.verdict.name)


def _error(path: Path) -> tuple[str | None, str]:
    """Name and text of the first error a cell of the executed notebook shows; (None, "") where none does."""
    try:
        cells = json.loads(path.read_bytes())["cells"]
        outputs = [output for cell in cells for output in cell.get("outputs", [])]
        first = next(output for output in outputs if output["output_type"] == "error")
    except (OSError, ValueError, KeyError, StopIteration):
        return None, ""
    return str(first["ename"]), " ".join(str(first["evalue"]).split())


def _tail(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[-4000:]
    except OSError:
        return ""


def _last_line(path: Path) -> str:
    lines = [line.strip() for line in _tail(path).splitlines() if line.strip()]
    return lines[-1][:400] if lines else "it printed nothing"
