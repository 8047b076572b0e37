"""The state of every kernel of the archive: its verdict, `not asked`, or `no code` where its file is empty.

Each stands with the beginning of the SHA-256 of its text, and with the first kernel of which it is a copy.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from committed import VERDICTS, Row
from screen import empty, tasks

COLUMNS = ("id", "task", "sha256", "copy_of", "state")
NOT_ASKED, NO_CODE = "not asked", "no code"
DIGITS = 12
"""Of a SHA-256 in hexadecimal; `verdicts.csv` has all 64 of the kernels that were asked."""


def of_files(kernels: Path) -> list[Row]:
    """Return one row for each kernel in the folder, by id, as if none had been asked."""
    first, without, found = dict[str, int](), empty(kernels), list[Row]()
    for number, task in sorted(tasks(kernels).items()):
        digest = hashlib.sha256((kernels / f"{number}.cu").read_bytes()).hexdigest()
        original = first.setdefault(digest, number)
        found.append({
            "id": str(number),
            "task": str(task),
            "sha256": digest[:DIGITS],
            "copy_of": "" if original == number else str(original),
            "state": NO_CODE if number in without else NOT_ASKED,
        })  # fmt: skip
    return found


def of_today(rows: Sequence[Row], verdicts: Sequence[Row]) -> list[Row]:
    """Return the rows with the verdicts of those that were asked."""
    known = {row["id"]: row["verdict"] for row in verdicts}
    return [row | {"state": known.get(row["id"], _unasked(row))} for row in rows]


def _unasked(row: Row) -> str:
    return row["state"] if row["state"] == NO_CODE else NOT_ASKED


def counted(rows: Sequence[Row]) -> Mapping[str, int]:
    """Return how many kernels have each state, verdicts first."""
    number = Counter(row["state"] for row in rows)
    return {name: number[name] for name in (*VERDICTS, NO_CODE, NOT_ASKED) if number[name]}


def copies(rows: Sequence[Row]) -> tuple[int, int]:
    """Return how many kernels are copies of an earlier one, and how many of these were not asked while a kernel of
    their task with the same text was.
    """
    asked = {(row["task"], row["sha256"]) for row in rows if row["state"] not in (NOT_ASKED, NO_CODE)}
    open_ones = [row for row in rows if row["state"] == NOT_ASKED and (row["task"], row["sha256"]) in asked]
    return sum(bool(row["copy_of"]) for row in rows), len(open_ones)
