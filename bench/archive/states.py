"""The state of every kernel of the archive: its verdict, `not asked`, or `no code` where its file is empty.

Each stands with the beginning of the SHA-256 of its text, and with the first kernel of which it is a copy.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from archive_cases import empty, tasks
from committed import VERDICTS, Row

COLUMNS = ("id", "task", "sha256", "copy_of", "state")
NOT_ASKED, NO_CODE = "not asked", "no code"
DIGITS = 12
"""Of a SHA-256 in hexadecimal; `verdicts.csv` has all 64 of the kernels that were asked."""


def of_files(kernels: Path) -> list[Row]:
    """Return one row for each kernel in the folder, as if none had been asked."""
    without = empty(kernels)
    digests = {one: hashlib.sha256((kernels / f"{one}.cu").read_bytes()).hexdigest() for one in tasks(kernels)}
    return [
        {
            "id": str(number),
            "task": str(task),
            "sha256": digests[number][:DIGITS],
            "state": NO_CODE if number in without else NOT_ASKED,
        }
        for number, task in tasks(kernels).items()
    ]


def of_today(rows: Sequence[Row], verdicts: Sequence[Row]) -> list[Row]:
    """Return the rows by id, with the verdicts of those that were asked and the first kernel of each text."""
    known, first, found = {row["id"]: row["verdict"] for row in verdicts}, dict[str, str](), list[Row]()
    for row in sorted(rows, key=lambda row: int(row["id"])):
        original = first.setdefault(row["sha256"], row["id"])
        copy_of = "" if original == row["id"] else original
        found.append(row | {"copy_of": copy_of, "state": known.get(row["id"], _unasked(row))})
    return found


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
