"""Read the committed files of the archive's audit: verdicts, what readers said, the instructive failures, the tasks."""

from __future__ import annotations

import ast
import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parents[1]
FOLDER = ROOT / "reports" / "datasets" / "ai_cuda_engineer"
ARCHIVE, WITH_CODE = 11_245, 11_243
"""Kernels of level 1 in the public copy at the commit that the page names, and those of them whose file holds code."""
Row = dict[str, str]
VERDICTS = (
    "no defect found", "wrong", "undefined", "aliased result", "reduced precision", "mistimed", "overstated", "vacuous",
    "cannot be built", "no answer",
)  # fmt: skip
FAILURES = ("wrong", "undefined", "aliased result", "reduced precision", "mistimed", "overstated")
"""Verdicts that find fault with a kernel that can be built."""
AT_RANDOM, WITHIN_TASKS = "at random", "within tasks"
"""How a kernel was drawn: from all of them, or from those of its task, where tasks were asked by their cost."""
FAMILIES: Mapping[str, Iterable[int]] = {
    "matrix products": range(1, 19),
    "element by element": (*range(19, 23), *range(25, 33), 88),
    "softmax and norms": (23, 24, *range(33, 41)),
    "pooling": range(41, 47),
    "reductions": range(47, 54),
    "convolutions": range(54, 88),
    "running sums": range(89, 94),
    "losses": range(94, 101),
}
"""Tasks of level 1, by their numbers."""


def read(name: str) -> list[Row]:
    """Return the rows of one of the committed tables."""
    with (FOLDER / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sample(rows: Sequence[Row]) -> list[Row]:
    """Return the rows that shares of all rest on: every kernel where all were asked, else those drawn from all."""
    return list(rows) if len(rows) >= WITH_CODE else [row for row in rows if row["drawn"] == AT_RANDOM]


def write(name: str, rows: Sequence[Row], columns: Sequence[str]) -> None:
    """Write one of the committed tables."""
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns, lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


def task_names() -> dict[int, str]:
    """Return what each task computes, in our words: the first line of its text, without the full stop."""
    texts = {int(path.stem): path.read_text(encoding="utf-8") for path in (SCRIPTS / "tasks").glob("*.py")}
    return {number: str(ast.get_docstring(ast.parse(text))).rstrip(".") for number, text in sorted(texts.items())}


def family(task: int) -> str:
    """Return the family of a task."""
    return next(name for name, tasks in FAMILIES.items() if task in tasks)
