"""Is a published time shorter than the hardware allows for the work of its task?

Only tasks whose text fixes their shapes and whose work is one dense operation are asked (`audit.lint.datasets.work`).
Proved is a time under what the fastest unit of the GPU named allows, whatever its precision, and under what is left to
move when everything the L2 cache holds is there already. A time under the fp32 floor or the plain memory floor, or one
of rows that name no GPU, held against the fastest GPU known, is a hint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.lint.datasets.answer import Answer, Grade, count, mark, not_asked
from audit.lint.datasets.dataset import MS_PER, NOT_STATED, Dataset, place
from audit.model import gpus
from audit.model.gpus import Gpu
from audit.report.quantities import milliseconds
from audit.report.view import Table

NAME = "floor"
TITLE = "Times against the hardware floor"
MOST_NAMED = 8
Numbers = npt.NDArray[Any]


@dataclass(frozen=True)
class Floors:
    """Least times of pieces of work on one GPU, in milliseconds, one an entry.

    `hard_ms` holds for any precision and a warm cache; `fp32_ms` for CUDA cores and a cold one.
    """

    hard_ms: Numbers
    fp32_ms: Numbers


def floors(flops: Numbers, moved: Numbers, gpu: Gpu) -> Floors:
    """Return the floors of work of so many operations and bytes."""
    beyond_cache = np.maximum(0.0, moved - gpu.l2_bytes)
    fastest_tflops = 1 / gpu.fastest_compute_ms(1e9)
    return Floors(
        hard_ms=np.maximum(flops / fastest_tflops / 1e9, beyond_cache / gpu.memory_gb_s / 1e6),
        fp32_ms=np.maximum(flops / gpu.fp32_tflops / 1e9, moved / gpu.memory_gb_s / 1e6),
    )


def run(data: Dataset) -> Answer:
    """Return the number of rows with a known floor, and the rows under it."""
    timed = data.frame[data.frame["kernel_time"].notna()]
    if timed.empty:
        return not_asked(NAME, TITLE, "no times are published, only ratios; a ratio fixes no time")
    if data.unit is None:
        return not_asked(NAME, TITLE, "the unit of the times is unknown; give --unit")
    known = timed[timed["flops"].notna()]
    if known.empty:
        return not_asked(NAME, TITLE, "no row holds a task whose text fixes its shapes")
    under = _under(known.assign(kernel_ms=known["kernel_time"] * MS_PER[data.unit]))
    proved = [row for row, grade, _ in under if grade == "proved"]
    sentences = [
        f"{count(len(known), len(timed))} of the timed rows have a task whose least work is known; "
        f"under a floor: {len(under):,}, of these proved impossible: {len(proved):,}."
    ]
    bias = (
        "The floors err low, so few rows are named: data-sheet peaks are out of reach of real kernels, only one dense "
        "operation is counted, and the L2 cache is taken as warm where a time is called impossible.",
    )
    rows = tuple((place(row), milliseconds(row["kernel_ms"]), text, grade) for row, grade, text in under[:MOST_NAMED])
    columns = ("Row", "Published time", "Floor", "Grade")
    tables = (Table("Rows farthest under a floor", columns, rows, frozenset({1})),) if rows else ()
    marks = tuple(mark(row, NAME, grade, f"{milliseconds(row['kernel_ms'])}: {text}") for row, grade, text in under)
    return Answer(NAME, TITLE, tuple(sentences), bias, tables, marks)


def _under(rows: pd.DataFrame) -> list[tuple[pd.Series, Grade, str]]:
    """Return the rows under a floor, proved ones first, then by how far."""
    found: list[tuple[float, pd.Series, Grade, str]] = []
    for name, part in rows.groupby("gpu", sort=False):
        gpu, named = _gpu(str(name))
        if gpu is not None:
            least = floors(part["flops"].to_numpy(), part["bytes"].to_numpy(), gpu)
            result = part.assign(hard_ms=least.hard_ms, fp32_ms=least.fp32_ms)
            slow = result[result["kernel_ms"] < np.maximum(least.hard_ms, least.fp32_ms)]
            found += [_described(row, named=named) for _, row in slow.iterrows()]
    found.sort(key=lambda one: (one[2] != "proved", one[0]))
    return [(row, grade, text) for _, row, grade, text in found]


def _described(row: pd.Series, *, named: bool) -> tuple[float, pd.Series, Grade, str]:
    """Return how far under its floor the row is, the row, its grade, and the floor."""
    if row["kernel_ms"] < row["hard_ms"]:
        text = f"under {milliseconds(row['hard_ms'])}, the least on any unit"
        return row["kernel_ms"] / row["hard_ms"], row, "proved" if named else "hint", text
    text = f"under {milliseconds(row['fp32_ms'])}, the least in fp32 from a cold cache"
    return row["kernel_ms"] / row["fp32_ms"], row, "hint", text


def _gpu(name: str) -> tuple[Gpu | None, bool]:
    """Return the GPU of that name, and whether it was named; a fastest one put together of all where none was."""
    table = gpus.table()
    if name != NOT_STATED:
        return table.get(name), True
    return max(table.values(), key=lambda gpu: gpu.memory_gb_s).model_copy(
        update={
            "fp32_tflops": max(gpu.fp32_tflops for gpu in table.values()),
            "fp16_tflops": max(gpu.fp16_tflops or 0.0 for gpu in table.values()),
            "l2_bytes": max(gpu.l2_bytes for gpu in table.values()),
        }
    ), False
