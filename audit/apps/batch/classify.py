"""The outcome of an attempt, from return code, signals and the record. papermill's own word is not enough.

Of a kernel that died papermill's notebook says that every cell completed; of `sys.exit(0)` in a cell the return code
is 0. So finished means: return code 0, and a final record of the very sources the batch was asked about.
"""

from __future__ import annotations

import json
import signal
from pathlib import Path

from audit.apps.batch.items import Item
from audit.apps.batch.state import FULL, Attempt, End, Outcome
from audit.model import VerdictName, store
from audit.model.errors import BadInput
from audit.model.store import RECORD

DEAD_KERNEL = 138
"""papermill's return code where the kernel died."""
STARTING = ("Kernel died before replying", "Kernel didn't respond", "Address already in use", "No such kernel")
EXECUTED, LOG = "executed.ipynb", "log.txt"
OUTSIDE = ("WorkerFailed", "MemoryError")
"""Exceptions of an audit where something outside it failed."""
Found = tuple[Outcome, str, VerdictName | None]


def classify(end: End, item: Item, folder: Path) -> Attempt:
    """The attempt whose results lie in `folder`."""
    outcome, reason, verdict = _found(end, item, folder)
    reasons = (reason,) if reason else ()
    return Attempt(
        stage="notebook", outcome=outcome, verdict=verdict or "", reasons=reasons, seconds=end.seconds, end=end
    )


def _found(end: End, item: Item, folder: Path) -> Found:
    if end.trouble is not None:
        return "infrastructure", end.trouble, None
    if end.timed_out:
        return "timed out", f"not over after {end.seconds:.0f} s; all its processes were killed", None
    if end.signal is not None or end.returncode == DEAD_KERNEL:
        return _died(end)
    if end.returncode != 0:
        return _raised(end, folder)
    return _of_record(item, folder / RECORD)


def _died(end: End) -> Found:
    """SIGKILL comes from outside: the system sends it where memory runs out. Any other signal is the audit's own."""
    process = "papermill" if end.signal is not None else "the notebook's kernel"
    number = end.signal if end.signal is not None else end.kernel_signal
    if number is None:
        return "crashed", f"{process} died", None
    text = f"{process} died of {signal.Signals(number).name}"
    if number == signal.SIGKILL:
        return "infrastructure", f"{text}; nothing of this batch sent it: memory may have run out", None
    return "crashed", text, None


def _raised(end: End, folder: Path) -> Found:
    name, text = _error(folder / EXECUTED)
    log = _tail(folder / LOG)
    last = log.strip().rpartition("\n")[2].strip()[:400] or "it printed nothing"
    if name is None:
        if any(words in log for words in STARTING):
            return "infrastructure", f"the notebook's kernel did not start: {last}", None
        outcome: Outcome = "infrastructure" if FULL in last else "failed"
        return outcome, f"papermill ended with {end.returncode}: {last}", None
    if name == "BadInput":
        return "bad input", text, None
    return "infrastructure" if name in OUTSIDE or FULL in text else "failed", f"{name}: {text}", None


def _of_record(item: Item, path: Path) -> Found:
    try:
        record = store.read(path)
    except BadInput:
        return "failed", f"the notebook ended and left no {RECORD}", None
    if record.claim.sources != item.sources:
        return "failed", f"{RECORD} is of other files than the claim had when the batch began", None
    if record.verdict.name == "incomplete":
        return "failed", "the notebook ended before the audit did: its record is incomplete", None
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


def _tail(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")[-4000:]
    except OSError:
        return ""
