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
from audit.model import store
from audit.model.errors import BadInput
from audit.model.store import RECORD

DEAD_KERNEL = 138
"""papermill's return code where the kernel died."""
STARTING = ("Kernel died before replying", "Kernel didn't respond", "Address already in use", "No such kernel")
EXECUTED, LOG = "executed.ipynb", "log.txt"
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
    if record.claim.sources != item.sources:
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
