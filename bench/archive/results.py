"""Write the table of verdicts of a screening, and all that follows from the committed tables.

    python bench/archive/results.py KERNELS [OUT...] [--gpu OUT]
    python bench/archive/results.py

OUT are folders of `bench/audits.py`, on the emulated device and behind `--gpu` on a GPU; of a kernel in several the
last counts, and of one in none the committed row, or its answer of a GPU, stays. A kernel that the committed table
lacks counts as drawn within its task: it is in `verdicts.csv` and `by_task.csv`, and in no share of all. The first form
writes `verdicts.csv` under `reports/datasets/ai_cuda_engineer/`, with the class of each cause by `causes.py`, and the
hashes in `states.csv`. Both forms write the states there, `by_task.csv`, `by_cause.csv`, the figures, and the parts
between two comments of the pages in PARTS; `bench/verdicts_parquet.py` then writes Parquet. `readings.csv` has what
readers of the sources made of the failures, `instructive.csv` the failures that are told with a repair, which
`repairs.py` asks again.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import committed
import figures
import paper
import raw
import states
import tables
from committed import FOLDER, ROOT, Row, read, sample, write

from audit.apps.pages import Parts, remade

SCRIPT = "bench/archive/results.py"
HERE = FOLDER.relative_to(ROOT).as_posix()
PARTS: Parts = {
    f"{HERE}/README.md": {
        "headline": lambda rows: tables.headline(sample(rows)),
        "drawn": tables.drawn,
        "verdicts": lambda rows: tables.verdicts(sample(rows)),
        "families": lambda rows: tables.families(sample(rows)),
        "tasks": lambda rows: tables.tasks(committed.by_task(rows)),
        "readers": tables.readers,
        "archive": tables.archive,
        "references": lambda rows: tables.references(committed.by_task(rows), rows),
        "cost": tables.cost,
    },
    f"{HERE}/failures.md": {
        "causes": lambda rows: tables.causes(sample(rows)),
        "unanswered": lambda rows: tables.unanswered(sample(rows)),
        "examples": tables.examples,
    },
    f"{HERE}/method.md": {"gpu": tables.gpu},
    f"{HERE}/note.md": {"headline": lambda rows: tables.headline(sample(rows))},
    "docs/gallery.md": {
        "archive": lambda rows: paper.gallery(sample(rows)),
        "cuda_l2": lambda _: paper.lint("cuda_l2"),
    },
    "reports/datasets/cuda_l2/README.md": {
        "cuda_l2": lambda _: paper.lint("cuda_l2"),
        "medians": lambda _: paper.lint_table("cuda_l2", "Median ratio per GPU, by baseline"),
        "work": lambda _: paper.lint_table("cuda_l2", "Geometric means of ratios, by the work of the rows"),
    },
    "reports/datasets/cuda_l2/note.md": {"cuda_l2": lambda _: paper.lint("cuda_l2")},
    "docs/findings.md": {
        "abstract": lambda rows: paper.abstract(sample(rows)),
        "families": lambda rows: tables.families(sample(rows)).replace("](figures", f"](../{HERE}/figures"),
        "causes": lambda rows: paper.causes(sample(rows)),
        "repairs": lambda _: paper.repairs(),
        "cuda_l1": lambda _: paper.lint("cuda_l1"),
        "cuda_l2": lambda _: paper.lint("cuda_l2"),
        "reconstructions": lambda _: paper.reconstructions(),
        "error rates": lambda _: paper.error_rates(),
    },
}


def pages(rows: Sequence[Row]) -> dict[Path, str]:
    """Return every page with its parts made anew, by its path."""
    return remade(PARTS, rows, by=SCRIPT)


def _screened(kernels: Path, folders: list[Path], gpu: Path | None) -> None:
    """Write the table of verdicts: the rows of a screening in place of the committed ones."""
    before = {row["id"]: row for row in read("verdicts.csv")}
    every = {row["id"]: row for row in [*read("states.csv"), *states.of_files(kernels)]}
    write("states.csv", states.of_today([*every.values()], list(before.values())), states.COLUMNS)
    on_gpu, drawn = ({key: row[column] for key, row in before.items()} for column in ("gpu", "drawn"))
    if gpu is not None:
        on_gpu |= raw.on_gpu(gpu)
        before = {key: row | {"gpu": on_gpu[key]} for key, row in before.items()}
    rows = before | {row["id"]: row for row in raw.rows(kernels, folders, on_gpu, drawn)}
    write("verdicts.csv", [rows[key] for key in sorted(rows, key=int)], raw.COLUMNS)


def main() -> None:
    """Write tables, figures and pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", type=Path, nargs="?")
    parser.add_argument("out", type=Path, nargs="*")
    parser.add_argument("--gpu", type=Path)
    given = parser.parse_args()
    if given.kernels is not None:
        if not given.out and given.gpu is None:
            parser.error("no folder of bench/audits.py is named")
        _screened(given.kernels, given.out, given.gpu)
    rows = read("verdicts.csv")
    write("states.csv", states.of_today(read("states.csv"), rows), states.COLUMNS)
    tasks = committed.by_task(rows)
    write("by_task.csv", tasks, committed.BY_TASK)
    write("by_cause.csv", committed.by_cause(sample(rows)), committed.BY_CAUSE)
    figures.drawn(sample(rows), tasks)
    for path, text in pages(rows).items():
        path.write_text(text, encoding="utf-8")
    print(tables.headline(sample(rows)), tables.verdicts(sample(rows)), tables.gpu(rows), sep="\n\n")


if __name__ == "__main__":
    main()
