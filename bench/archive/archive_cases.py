"""Write the kernels of the AI CUDA Engineer archive as cases for `bench/audits.py`.

    python bench/archive/archive_cases.py KERNELS OUT [--first A] [--last B] [--ids IDS]

KERNELS holds the archive's `ID.cu`, as benchmarks/kernel-bench/kernels of uiuc-kang-lab/agentic-benchmarks has them.
`tasks/` beside this file has the functional form of each task, in our words; `ranges.csv` says which ids are its
kernels. The kernels have one random order, so that the first N are a random sample; A and B are places in it. Those of
one task are asked in pieces, the longest first, since a task's right results are computed once a process; `costs.csv`
has the seconds that a kernel of each task took on a host of so many cores. A file that is no kernel of a task, or is
empty, is named and left out. Writes `OUT/cases.jsonl` and a row of the archive's table for each kernel.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import re
import sys
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
SEED = 20250220
"""Of the order of the kernels, and of all inputs."""
ID = re.compile("0|[1-9][0-9]*")
NAMED = 20
"""Files that are left out and named."""
PIECE_S, OF_THE_TASK = 330.0, 0.4
"""The seconds of one process on the emulated device, and the part of a kernel's that all of its task share."""
LIMIT_S = 170.0
"""For one kernel on a GPU; what it answered before counts."""


def tasks(kernels: Path) -> dict[int, int]:
    """Return the task of each kernel that lies in the folder, by id; a file of another name is left out."""
    there = {int(one.stem) for one in kernels.glob("*.cu") if ID.fullmatch(one.stem)}
    found: dict[int, int] = {}
    with (HERE / "ranges.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            ids = range(int(row["first"]), int(row["last"]) + 1)
            found |= dict.fromkeys(there.intersection(ids), int(row["task"]))
    return found


def odd(kernels: Path) -> list[str]:
    """Return the names of files in the folder that are no kernel of a task in `ranges.csv`."""
    known = {f"{number}.cu" for number in tasks(kernels)}
    return sorted(one.name for one in kernels.iterdir() if one.name not in known)


def empty(kernels: Path) -> set[int]:
    """Return the kernels whose file holds no code."""
    return {number for number in tasks(kernels) if not (kernels / f"{number}.cu").read_bytes().strip()}


def asked(ids: Sequence[int], kernels: Path) -> list[int]:
    """Return the ids that can be asked, and say which files and ids are left out, a sentence for each reason."""
    known, without = tasks(kernels), empty(kernels)
    left_out = {
        "no kernel of a task in ranges.csv": odd(kernels),
        "no such file": [str(one) for one in ids if one not in known],
        "no code in the file": [f"{one}.cu" for one in ids if one in without],
    }
    for reason, names in left_out.items():
        if names:
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            print(f"left out, {reason}: {', '.join(names[:NAMED])}{more}", file=sys.stderr)
    return [one for one in ids if one in known and one not in without]


def in_order(kernels: Path) -> list[int]:
    """Return all ids in the one random order."""
    ids = sorted(tasks(kernels))
    random.Random(SEED).shuffle(ids)
    return ids


def name_of(number: int) -> str:
    """Return the name of the files of a kernel."""
    return f"k{number:05}"


def row(number: int, task: int, kernels: Path) -> str:
    """Return one kernel with its task, as a line of the archive's table."""
    return json.dumps({
        "Op_Name": f"task {task} kernel {number}",
        "Level_ID": 1,
        "Task_ID": task,
        "Kernel_Name": str(number),
        "CUDA_Code": (kernels / f"{number}.cu").read_text(encoding="utf-8", errors="replace"),
        "PyTorch_Code_Functional": (HERE / "tasks" / f"{task:03}.py").read_text(encoding="utf-8"),
    })  # fmt: skip


def chunks(ids: Sequence[int], kernels: Path) -> list[list[int]]:
    """Return the ids in pieces of one task each, the longest first: a process keeps a task's right results."""
    known, by_task = tasks(kernels), dict[int, list[int]]()
    for one in ids:
        by_task.setdefault(known[one], []).append(one)
    with (HERE / "costs.csv").open(newline="") as file:
        seconds = {int(row["task"]): float(row["seconds"]) for row in csv.DictReader(file)}
    found = []
    for task, group in by_task.items():
        size = max(1, int((PIECE_S / seconds[task] - OF_THE_TASK) / (1 - OF_THE_TASK)))
        pieces = -(-len(group) // size)
        found += [(seconds[task] * len(group) / pieces, group[piece::pieces]) for piece in range(pieces)]
    return [group for _, group in sorted(found, reverse=True)]


def write(ids: Sequence[int], kernels: Path, out: Path) -> Path:
    """Write the rows and the cases of those kernels; return the file of cases."""
    known, file = tasks(kernels), out / "cases.jsonl"
    (out / "rows").mkdir(parents=True, exist_ok=True)
    lines = []
    for piece, group in enumerate(chunks(ids, kernels)):
        for number in group:
            source = f"rows/{name_of(number)}.jsonl"
            (out / source).write_text(row(number, known[number], kernels) + "\n", encoding="utf-8")
            lines.append(json.dumps({"case": name_of(number), "sources": [source], "seed": SEED, "piece": piece,
                                     "build": "fast", "limit_s": LIMIT_S}))  # fmt: skip
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return file


def main() -> None:
    """Write the chosen kernels."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int)
    parser.add_argument("--ids", help="ids with commas between them, or a file of ids, instead of places in the order")
    given = parser.parse_args()
    ids = in_order(given.kernels)[given.first : given.last]
    if given.ids is not None:
        words = given.ids if given.ids.replace(",", "").isdigit() else Path(given.ids).read_text()
        ids = [int(one) for one in words.replace(",", " ").split()]
    print(write(asked(ids, given.kernels), given.kernels, given.out))


if __name__ == "__main__":
    main()
