"""Screen public kernels of the AI CUDA Engineer archive on the emulated device.

    python bench/archive/screen.py KERNELS OUT [--first A] [--last B] [--shards N] [--until S] [--ids IDS]

KERNELS holds the archive's `ID.cu`, as benchmarks/kernel-bench/kernels of uiuc-kang-lab/agentic-benchmarks has them.
`tasks/` beside this file has the functional form of each task, in our words; `ranges.csv` says which ids are its
kernels. The kernels have one random order, so that the first N are a random sample; A and B are places in it. Those of
one task are asked one after another, N processes at a time, since a task's right results are computed once a process.
`costs.csv` has the seconds that a kernel of each task took on a host of 64 cores, which order the work. A file that is
no kernel of a task, or is empty, is named and left out. OUT keeps a state and a record of each kernel; the same command
goes on where it was cut, by `--until` seconds say.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import io
import itertools
import json
import os
import random
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from audit.apps.batch import screening
from audit.apps.batch.items import Collection, Item
from audit.apps.batch.rows import make
from audit.apps.batch.run import Run, held
from audit.claims.importers.material import Given
from audit.report.progress import Progress

HERE = Path(__file__).resolve().parent
SEED = 20250220
"""Of the order of the kernels, and of all inputs."""
ENDED_AFTER = ("timeout", "--foreground", "--signal=INT", "--kill-after=20")
"""The command that ends a process after the seconds behind it, with 20 more to write its states."""
ID = re.compile("0|[1-9][0-9]*")
NAMED = 20
"""Files that are left out and named."""
PIECE_S, OF_THE_TASK = 330.0, 0.4
"""The seconds of one process, and the part of a kernel's seconds that is the same for all of its task."""


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


def item(number: int, task: int, kernels: Path, out: Path) -> Item:
    """Return one kernel with its task; its claim folder is made when it is needed."""
    row = {
        "Op_Name": f"task {task} kernel {number}",
        "Level_ID": 1,
        "Task_ID": task,
        "Kernel_Name": str(number),
        "CUDA_Code": (kernels / f"{number}.cu").read_text(encoding="utf-8", errors="replace"),
        "PyTorch_Code_Functional": (HERE / "tasks" / f"{task:03}.py").read_text(encoding="utf-8"),
    }
    text, name = json.dumps(row), f"k{number:05}"
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Item(name, out / "claims" / name, digest, make=partial(make, text=text, name=name, given=Given()))


def screened(kernels: Path, ids: Sequence[int], out: Path) -> None:
    """Ask the kernels of one piece, one at a time."""
    known = tasks(kernels)
    collection = Collection("archive", tuple(item(one, known[one], kernels, out) for one in ids))
    stages = [replace(one, in_parallel=False) for one in screening.STAGES if one.name == "emulated"]
    with held(out), suppress(KeyboardInterrupt):
        Run(collection, out, resume=True, seed=SEED, progress=Progress(io.StringIO())).run(stages)


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


def dealt(ids: Sequence[int], kernels: Path, out: Path, *, shards: int, until: float) -> None:
    """Run `shards` processes at a time, one a piece; after `until` seconds they are ended, and no more are begun."""
    deadline = time.monotonic() + until

    def run(place: int, piece: Sequence[int]) -> None:
        if (left := deadline - time.monotonic()) > 0:
            words = [str(kernels), str(out), "--piece", str(place), "--ids", ",".join(map(str, piece))]
            subprocess.run([*ENDED_AFTER, f"{left:.0f}", sys.executable, __file__, *words], check=False)

    with ThreadPoolExecutor(shards) as pool:
        list(pool.map(run, itertools.count(), chunks(ids, kernels)))


def main() -> None:
    """Deal the kernels to processes, and wait for them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--last", type=int)
    parser.add_argument("--ids", help="ids with commas between them, or a file of ids, instead of places in the order")
    parser.add_argument("--shards", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--piece", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=30 * 86400.0)
    given = parser.parse_args()
    ids = in_order(given.kernels)[given.first : given.last]
    if given.ids is not None:
        words = given.ids if given.ids.replace(",", "").isdigit() else Path(given.ids).read_text()
        ids = [int(one) for one in words.replace(",", " ").split()]
    if given.piece is None:
        dealt(asked(ids, given.kernels), given.kernels, given.out, shards=given.shards, until=given.until)
    else:
        screened(given.kernels, ids, given.out / f"shard_{given.piece:04}")


if __name__ == "__main__":
    main()
