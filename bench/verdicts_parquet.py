"""Write a Parquet file beside every CSV of verdicts under `reports/datasets/`: `python bench/verdicts_parquet.py`.

The rows and the order of the columns are those of the CSV. A column in NUMBERS holds numbers, and null where a cell is
empty; every other column holds text. Needs pyarrow (`pip install .[datasets]`).
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import pyarrow
from pyarrow import parquet

FOLDER = Path(__file__).resolve().parents[1] / "reports" / "datasets"
_TIMED = ("seconds", "ms", "ratio_eager", "low", "high", "ratio_strongest")
NUMBERS: Mapping[str, Mapping[str, type[int] | type[float]]] = {
    "ai_cuda_engineer/verdicts": {"id": int, "task": int},
    "ai_cuda_engineer/states": {"id": int, "task": int, "copy_of": int},
    "cuda_l1/verdicts": dict.fromkeys(("published", "eager", "compile", "do_bench"), float),
    "kernelbench_com/verdicts": {"sizes": int},
    "kernelbench_com/runs": {},
    "stanford/verdicts": dict.fromkeys(("published", *_TIMED), float),
    "trimul/verdicts": dict.fromkeys(_TIMED, float),
    "robust_kbench/verdicts": dict.fromkeys(("published", "published_compile", *_TIMED), float),
    "cuda_l2_sample/verdicts": {"of_stratum": int} | dict.fromkeys(("published", "published_matmul", *_TIMED), float),
}
"""Tables, by their names without the ending, and their columns that hold numbers."""


def table(name: str) -> pyarrow.Table:
    """Return the rows of a CSV with the types of its columns."""
    with (FOLDER / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        lines = csv.DictReader(file)
        rows, columns = list(lines), list(lines.fieldnames or ())
    kinds = {int: pyarrow.int64(), float: pyarrow.float64(), str: pyarrow.string()}
    as_type = {column: NUMBERS[name].get(column, str) for column in columns}
    cells = {column: [kind(row[column]) if row[column] or kind is str else None for row in rows]
             for column, kind in as_type.items()}  # fmt: skip
    return pyarrow.table(cells, pyarrow.schema([(column, kinds[kind]) for column, kind in as_type.items()]))


def main() -> None:
    """Write every file whose rows are not those of its CSV."""
    for name in NUMBERS:
        made, path = table(name), FOLDER / f"{name}.parquet"
        if not path.exists() or not parquet.read_table(path).equals(made):
            parquet.write_table(made, path, compression="zstd")
            print(path.relative_to(FOLDER))


if __name__ == "__main__":
    main()
