"""Screen rows of CUDA-L1 on the emulated device, each in the mode of its own evaluation.

    python bench/cuda_l1/l1_screen.py FILE OUT [--ids FILE] [--shards N] [--until S]

FILE is `optimized_cuda_code/<gpu>.json` of deepreinforce-ai/CUDA-L1; its name tells the GPU of the scores. Every row
with code is asked, those most likely to be quick first. A name of a row is `h100_1_013`: GPU, level, task. OUT keeps a
state and a record of each row; the same command goes on where it was cut, by `--until` seconds say.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from audit.apps.batch import screening
from audit.apps.batch.items import Collection, Item
from audit.apps.batch.rows import make
from audit.apps.batch.run import Run, held
from audit.claims.importers.cuda_l1 import CODE, NOTHING, SCORES
from audit.claims.importers.imported import Given
from audit.report.progress import Progress

SEED = 20250714
"""Of all inputs."""
ENDED_AFTER = ("timeout", "--foreground", "--signal=INT", "--kill-after=20")
"""The command that ends a process after the seconds behind it, with 20 more to write its states."""


@dataclass(frozen=True)
class Row:
    """One row of the file: `text` is the line of JSON, `code` its solution, empty where it has none."""

    name: str
    level: int
    task: int
    text: str
    code: str
    scores: dict[str, float | None]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the solution."""
        return hashlib.sha256(self.code.encode()).hexdigest() if self.code else ""


def rows(file: Path) -> dict[str, Row]:
    """Return all rows of the file by name, in its order."""
    found = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        cells = json.loads(line)
        level, task, code = cells["level_id"], cells["task_id"], (cells[CODE] or "").strip()
        name = f"{file.stem.lower()}_{level}_{task:03}"
        scores = {column: cells.get(column) for column in SCORES}
        found[name] = Row(name, level, task, line, "" if code in NOTHING else cells[CODE], scores)
    return found


def item(row: Row, out: Path) -> Item:
    """Return one row as an item; its claim folder is made when it is needed."""
    digest = hashlib.sha256(row.text.encode()).hexdigest()
    making = partial(make, text=row.text, name=row.name, given=Given())
    return Item(row.name, out / "claims" / row.name, digest, make=making)


def named(file: Path, ids: Path | None) -> list[Row]:
    """Return the rows with code, or those that the file of names lists."""
    known = rows(file)
    return [known[one] for one in ids.read_text().split()] if ids else [row for row in known.values() if row.code]


def screened(chosen: Sequence[Row], out: Path) -> None:
    """Ask the rows of one shard, one at a time."""
    collection = Collection("cuda_l1", tuple(item(row, out) for row in chosen))
    stages = [replace(one, in_parallel=False) for one in screening.STAGES if one.name == "emulated"]
    with held(out), suppress(KeyboardInterrupt):
        Run(collection, out, resume=True, seed=SEED, progress=Progress(io.StringIO())).run(stages)


def main() -> None:
    """Deal the rows to shards, and wait for them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ids", type=Path, help="a file of names of rows, instead of all with code")
    parser.add_argument("--shards", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--shard", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--until", type=float, default=30 * 86400.0)
    given = parser.parse_args()
    if given.shard is None:
        command = [*ENDED_AFTER, f"{given.until:.0f}", sys.executable, *sys.argv, "--shard"]
        running = [subprocess.Popen([*command, str(shard)]) for shard in range(given.shards)]
        for one in running:
            one.wait()
        return
    chosen = named(given.file, given.ids)[given.shard :: given.shards]
    screened(chosen, given.out / f"shard_{given.shard:02}")


if __name__ == "__main__":
    main()
