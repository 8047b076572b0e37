"""Write the rows of CUDA-L1 as cases for `bench/audits.py`, each in the mode of its own evaluation.

    python bench/cuda_l1/l1_cases.py FILE OUT [--ids FILE]

FILE is `optimized_cuda_code/<gpu>.json` of deepreinforce-ai/CUDA-L1; its name tells the GPU of the scores. Every row
with code is written. A name of a row is `h100_1_013`: GPU, level, task. Writes `OUT/cases.jsonl`, and each row into a
file of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from audit.claims.importers.cuda_l1 import CODE, NOTHING, SCORES

SEED = 20250714
"""Of all inputs."""
A_PIECE = 8
"""Rows that share a process on the emulated device."""


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


def named(file: Path, ids: Path | None) -> list[Row]:
    """Return the rows with code, or those that the file of names lists."""
    known = rows(file)
    return [known[one] for one in ids.read_text().split()] if ids else [row for row in known.values() if row.code]


def main() -> None:
    """Write the chosen rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--ids", type=Path, help="a file of names of rows, instead of all with code")
    given = parser.parse_args()
    (given.out / "rows").mkdir(parents=True, exist_ok=True)
    lines = []
    for place, row in enumerate(named(given.file, given.ids)):
        source = f"rows/{row.name}.jsonl"
        (given.out / source).write_text(row.text + "\n", encoding="utf-8")
        lines.append(json.dumps({"case": row.name, "sources": [source], "seed": SEED, "piece": place // A_PIECE,
                                 "build": "published", "baselines": ["eager", "compile"]}))  # fmt: skip
    (given.out / "cases.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
