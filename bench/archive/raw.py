"""Read the folders of a screening: one row a kernel with its verdict, its class and the first piece of evidence."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import causes
from committed import VERDICTS, WITHIN_TASKS, Row, read
from screen import tasks

from audit.apps.batch import state
from audit.apps.batch.state import Attempt, ItemState

COLUMNS = ("id", "task", "drawn", "sha256", "verdict", "cause", "evidence", "read", "gpu")
NO_ANSWER, OWN_ERROR = "no answer", "an error of this kit"
EVIDENCE = 240
"""Characters of the first reason that are kept."""
RECORD = Path("emulated/record.json")


def rows(kernels: Path, folders: list[Path], gpu: Mapping[str, str], drawn: Mapping[str, str]) -> list[Row]:
    """Return one row a kernel that has an answer, by id; of a kernel in several folders the last one counts.

    One that `drawn` does not name was drawn within its task.
    """
    known, found = tasks(kernels), dict[int, Row]()
    readers = {row["id"]: row["judgement"] for row in read("readings.csv")}
    for path in (path for folder in folders for path in sorted(folder.glob("shard_*/items/*.json"))):
        one = state.read(ItemState, path)
        if one.last is None or one.last.stage != "emulated":
            continue
        number, key = int(one.item[1:]), str(int(one.item[1:]))
        verdict, cause = _judged(one.last, path.parents[1] / "records" / one.item / RECORD)
        found[number] = {
            "id": key,
            "task": str(known[number]),
            "drawn": drawn.get(key, WITHIN_TASKS),
            "sha256": hashlib.sha256((kernels / f"{number}.cu").read_bytes()).hexdigest(),
            "verdict": verdict,
            "cause": cause,
            "evidence": one.last.reason[:EVIDENCE],
            "read": readers.get(key, ""),
            "gpu": gpu.get(key, ""),
        }
    return [found[number] for number in sorted(found)]


def _judged(last: Attempt, record: Path) -> tuple[str, str]:
    """Return verdict and class; an attempt that ended without a verdict has no answer."""
    if last.outcome in {"settled", "passed on"} and last.verdict in VERDICTS:
        return last.verdict, causes.of(last.verdict, causes.evidence(record, last.reasons))
    if last.outcome == NO_ANSWER:
        return NO_ANSWER, causes.of(NO_ANSWER, last.reasons)
    return NO_ANSWER, OWN_ERROR if last.outcome == "error" else causes.OTHER
