"""Read the committed files of the archive's audit, and count verdicts: shares with 95 % intervals, by task, by cause.

The files are verdicts, what readers said, the instructive failures and the tasks.
"""

from __future__ import annotations

import ast
import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from audit.apps.selftest.score import interval

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
SOUND_ON_GPU = ("right at its inputs", "no defect found")
"""Answers of a GPU: of an audit that was cut, and of a whole one."""
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


BY_CAUSE = ("verdict", "cause", "kernels", "of", "share", "low", "high")
BY_TASK = ("task", "name", "family", "asked", *VERDICTS, "found faulty", "low", "high")


def share(number: int, of: int) -> str:
    """Return a share with its interval in words."""
    low, high = interval(number, of)
    return f"{number / of:.1%} ({low:.1%} to {high:.1%})".replace("%", " %") if of else "none asked"


def percent(number: int, of: int) -> str:
    """Return a share in words, without its interval."""
    return f"{number / of:.0%}".replace("%", " %") if of else "none"


def kernels(of: int) -> str:
    """Return which kernels shares are of, in words."""
    if of >= WITH_CODE:
        return f"all {of:,} kernels with code among {ARCHIVE:,} public ones"
    return f"{of:,} kernels drawn at random from {ARCHIVE:,} public ones"


def verdicts(rows: Iterable[Row]) -> Counter[str]:
    """Return the number of kernels of each verdict."""
    return Counter(row["verdict"] for row in rows)


def faulty(rows: Iterable[Row]) -> int:
    """Return how many kernels have a verdict that finds fault."""
    return sum(row["verdict"] in FAILURES for row in rows)


def on_gpu(rows: Iterable[Row], verdict: str) -> list[str]:
    """Return the answers of a GPU about the kernels of a verdict."""
    return [row["gpu"] for row in rows if row["verdict"] == verdict and row["gpu"] in {"wrong", *SOUND_ON_GPU}]


def by_task(rows: Sequence[Row]) -> list[Row]:
    """Return one row a task that was asked, those with the largest share found faulty first."""
    found, names = [], task_names()
    for task in sorted({int(row["task"]) for row in rows}):
        own = [row for row in rows if int(row["task"]) == task]
        counts, bad = verdicts(own), faulty(own)
        low, high = interval(bad, len(own))
        found.append(
            {"task": str(task), "name": names[task], "family": family(task), "asked": str(len(own))}
            | {verdict: str(counts[verdict]) for verdict in VERDICTS}
            | {"found faulty": f"{bad / len(own):.3f}", "low": f"{low:.3f}", "high": f"{high:.3f}"}
        )
    return sorted(found, key=lambda row: -float(row["found faulty"]))


def causes(rows: Iterable[Row]) -> list[tuple[str, str, list[Row]]]:
    """Return verdict, class and kernels of each class, in the order of verdicts, the largest first."""
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row["cause"]:
            groups.setdefault((row["verdict"], row["cause"]), []).append(row)
    order = sorted(groups, key=lambda key: (VERDICTS.index(key[0]), key[1] == "other", -len(groups[key])))
    return [(*key, groups[key]) for key in order]


def by_cause(rows: Sequence[Row]) -> list[Row]:
    """Return one row a class, with its share of all kernels asked."""
    found = []
    for verdict, name, own in causes(rows):
        low, high = interval(len(own), len(rows))
        numbers = (str(len(own)), str(len(rows)), f"{len(own) / len(rows):.4f}", f"{low:.4f}", f"{high:.4f}")
        found.append(dict(zip(BY_CAUSE, (verdict, name, *numbers), strict=True)))
    return found
