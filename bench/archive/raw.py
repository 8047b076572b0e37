"""Read the folders of an audit of the archive: one row a kernel with its verdict, its class and its first evidence."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import causes
from archive_cases import tasks
from committed import VERDICTS, WITHIN_TASKS, Row, read

from audit.apps.batch import screening
from audit.judge import evidence
from audit.judge.answers import result_state
from audit.model import Record, store

COLUMNS = ("id", "task", "drawn", "sha256", "verdict", "cause", "evidence", "read", "gpu")
NO_ANSWER, OWN_ERROR = "no answer", "an error of this kit"
EVIDENCE = 240
"""Characters of the first reason that are kept."""
State = dict[str, Any]


def rows(kernels: Path, folders: list[Path], gpu: Mapping[str, str], drawn: Mapping[str, str]) -> list[Row]:
    """Return one row a kernel that has an answer, by id; of a kernel in several folders the last one counts.

    One that `drawn` does not name was drawn within its task.
    """
    known, found = tasks(kernels), dict[int, Row]()
    readers = {row["id"]: row["judgement"] for row in read("readings.csv")}
    for number, state, record in (one for folder in folders for one in _states(folder)):
        if state["outcome"] == "cut":
            continue
        key, (verdict, cause, first) = str(number), _judged(state, record)
        found[number] = {
            "id": key,
            "task": str(known[number]),
            "drawn": drawn.get(key, WITHIN_TASKS),
            "sha256": hashlib.sha256((kernels / f"{number}.cu").read_bytes()).hexdigest(),
            "verdict": verdict,
            "cause": cause,
            "evidence": first[:EVIDENCE],
            "read": readers.get(key, ""),
            "gpu": gpu.get(key, ""),
        }
    return [found[number] for number in sorted(found)]


def on_gpu(folder: Path) -> dict[str, str]:
    """Return the answer of each kernel's audit on a GPU, by id: its verdict, or of one that was cut what the judge says
    of its values.

    `right at its inputs` means the benchmark's own inputs: a kernel may be wrong at others, which probes come to later.
    """
    asked = ((number, _on_gpu(state, store.read(record))) for number, state, record in _states(folder)
             if record.exists())  # fmt: skip
    return {str(number): answer for number, answer in asked if answer != NO_ANSWER}


def _on_gpu(state: State, record: Record) -> str:
    if state["outcome"] == "finished":
        return record.verdict.name if record.verdict.name in VERDICTS else NO_ANSWER
    findings = evidence.deciding_about(record.findings, record.claimed_name)
    values, proof = result_state(findings, ())
    if proof:
        return values
    right = any(one.probe == "agreement" and one.outcome == "pass" for one in findings)
    return "right at its inputs" if right else NO_ANSWER


def _states(folder: Path) -> Iterator[tuple[int, State, Path]]:
    """Yield id, state and the place of the record of each kernel in a folder of `bench/audits.py`."""
    for path in sorted(folder.glob("states/k*.json")):
        record = folder / "records" / path.stem / store.RECORD
        yield int(path.stem[1:]), json.loads(path.read_text(encoding="utf-8")), record


def _judged(state: State, record: Path) -> tuple[str, str, str]:
    """Return verdict, class and first piece of evidence; an audit that ended without a verdict has no answer."""
    reasons, first = tuple(state["reasons"]), next(iter(state["reasons"]), "")
    if state["outcome"] == "finished":
        known = store.read(record)
        found = screening.of_verdict(known.verdict, known.findings)
        if found.verdict in VERDICTS:
            return found.verdict, causes.of(found.verdict, causes.evidence(record, found.reasons)), found.reason
        reasons, first = found.reasons, found.reason
    return NO_ANSWER, OWN_ERROR if state["outcome"] == "crashed" else causes.of(NO_ANSWER, reasons), first
