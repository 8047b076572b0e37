"""Rows on their way from a file into a table, whatever the format."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.model.errors import BadInput

_LONGEST_NAME = 40


@dataclass(frozen=True)
class Rejected:
    """A row that is left out: its number in the file, the column (empty: the whole row), and why."""

    row: int
    column: str
    reason: str

    def __str__(self) -> str:
        """For people: `row 3, column CUDA_Runtime: …`."""
        column = f", column {self.column}" if self.column else ""
        return f"row {self.row}{column}: {self.reason}"


@dataclass(frozen=True)
class Rows:
    """The rows that could be read, by column, the number of each in the file, and those that could not."""

    columns: dict[str, list[Any]]
    numbers: list[int]
    rejected: list[Rejected]


def listed(columns: Iterable[str]) -> str:
    """Names of columns on one line, whatever stands in them."""
    return ", ".join(" ".join(name.split())[:_LONGEST_NAME] for name in columns) or "none"


def wanted(known: Iterable[str], asked: Collection[str] | None, path: Path) -> list[str]:
    """The columns to take, in the order of the file. Raises BadInput naming a column that is not there."""
    there = list(dict.fromkeys(known))
    if any(not name.isascii() and name != name.encode(errors="replace").decode() for name in there):
        raise BadInput(f"{path}: the name of a column is not UTF-8; save the file as UTF-8")
    missing = sorted(set(asked or ()) - set(there))
    if missing:
        raise BadInput(f"{path}: no column {missing[0]}; the file has: {listed(there)}")
    return there if asked is None else [name for name in there if name in asked]
