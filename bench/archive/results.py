"""Write the table of verdicts of a screening, and its counts into the page beside it.

    python bench/archive/results.py KERNELS OUT... [--gpu FILE]

OUT are folders of `screen.py`; of a kernel in several the last counts. FILE has verdicts on a GPU, a list of `id` and
`verdict` in JSON. Writes `verdicts.csv` under `reports/datasets/ai_cuda_engineer/` and the counts in its `README.md`,
where `readings.csv` has what readers of the sources made of the failures.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import json
import math
import re
from collections import Counter
from pathlib import Path

from screen import tasks

from audit.apps.batch import state
from audit.apps.batch.state import ItemState

FOLDER = Path(__file__).resolve().parents[2] / "reports" / "datasets" / "ai_cuda_engineer"
COLUMNS = ("id", "task", "sha256", "verdict", "evidence", "read", "gpu")
NO_ANSWER = "no answer"
EVIDENCE = 240
"""Characters of the first reason that are kept."""


def rows(kernels: Path, folders: list[Path], gpu: dict[int, str]) -> list[dict[str, str]]:
    """Return one row a kernel, by id."""
    known, found = tasks(kernels), dict[int, dict[str, str]]()
    with (FOLDER / "readings.csv").open(newline="") as file:
        read = {int(row["id"]): row["judgement"] for row in csv.DictReader(file)}
    for folder in folders:
        for path in sorted(folder.glob("shard_*/items/*.json")):
            one = state.read(ItemState, path)
            if one.last is None:
                continue
            number, verdict = int(one.item[1:]), one.last.verdict or one.last.outcome
            found[number] = {
                "id": str(number),
                "task": str(known[number]),
                "sha256": hashlib.sha256((kernels / f"{number}.cu").read_bytes()).hexdigest(),
                "verdict": NO_ANSWER if one.last.outcome == NO_ANSWER else verdict,
                "evidence": (one.last.reasons or ("",))[0][:EVIDENCE],
                "read": read.get(number, ""),
                "gpu": gpu.get(number, ""),
            }
    return [found[number] for number in sorted(found)]


def interval(number: int, of: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share."""
    z, share = 1.96, number / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return middle - half, middle + half


def counts(every: list[dict[str, str]]) -> str:
    """Return the counts of verdicts as a table in Markdown."""
    lines = ["| Verdict | Kernels | Share | 95 % interval |", "| --- | ---: | ---: | --- |"]
    for verdict, number in Counter(row["verdict"] for row in every).most_common():
        low, high = interval(number, len(every))
        lines.append(f"| {verdict} | {number} | {number / len(every):.1%} | {low:.1%} to {high:.1%} |")
    return "\n".join(lines)


def on_gpu(every: list[dict[str, str]]) -> str:
    """Return the verdicts of both devices side by side as a table in Markdown."""
    pairs = Counter((row["verdict"], row["gpu"]) for row in every if row["gpu"])
    lines = ["| Emulated device | On the GPU | Kernels |", "| --- | --- | ---: |"]
    return "\n".join([*lines, *(f"| {here} | {there} | {number} |" for (here, there), number in sorted(pairs.items()))])


def main() -> None:
    """Write the table and the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path)
    parser.add_argument("out", type=Path, nargs="+")
    parser.add_argument("--gpu", type=Path)
    given = parser.parse_args()
    asked = json.loads(given.gpu.read_text()) if given.gpu else []
    every = rows(given.kernels, given.out, {one["id"]: one["verdict"] for one in asked})
    with (FOLDER / "verdicts.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        table.writeheader()
        table.writerows(every)
    page = FOLDER / "README.md"
    text = page.read_text(encoding="utf-8")
    for name, part in (("counts", counts(every)), ("gpu", on_gpu(every))):
        text = re.sub(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", rf"\1{part}\n\2", text, flags=re.DOTALL)
    page.write_text(text, encoding="utf-8")
    print(counts(every), on_gpu(every), sep="\n\n")


if __name__ == "__main__":
    main()
