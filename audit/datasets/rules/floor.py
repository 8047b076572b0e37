"""Is a published time shorter than the hardware allows for the work of its task?

Only tasks whose text fixes their shapes and whose work is one dense operation are asked (`audit.datasets.work`).
Proved is a time under what the fastest unit of the GPU named allows, whatever its precision, and under what is left to
move when everything the L2 cache holds is there already. A time under the fp32 floor or the plain memory floor, or one
of rows that name no GPU, held against the fastest GPU known, is a hint.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from audit import gpus
from audit.datasets.answer import Answer, Grade, count, mark, not_asked
from audit.datasets.dataset import NOT_STATED, Dataset, place
from audit.datasets.units import MS_PER
from audit.gpus import Gpu
from audit.report.quantities import milliseconds
from audit.report.view import Table

NAME = "floor"
TITLE = "Times against the hardware floor"
MOST_NAMED = 8


@dataclass(frozen=True)
class Floors:
    """Least times of one piece of work on one GPU, in milliseconds.

    `hard_ms` holds for any precision and a warm cache; `fp32_ms` for CUDA cores and a cold one.
    """

    hard_ms: float
    fp32_ms: float


def floors(flops: float, moved: float, gpu: Gpu) -> Floors:
    """The floors of work of so many operations and bytes."""
    beyond_cache = max(0.0, moved - gpu.l2_bytes)
    return Floors(
        hard_ms=max(gpu.fastest_compute_ms(flops), gpu.memory_ms(beyond_cache)),
        fp32_ms=max(gpu.compute_ms(flops), gpu.memory_ms(moved)),
    )


def run(data: Dataset) -> Answer:
    """How many rows could be asked, and those under a floor."""
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
        f"{len(under):,} of them are under a floor, {len(proved):,} of these proved impossible."
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
    """The rows under a floor, proved ones first, then by how far."""
    found: list[tuple[float, pd.Series, Grade, str]] = []
    for _, row in rows.iterrows():
        told = _told(row)
        if told is not None:
            grade, floor_ms, text = told
            found.append((row["kernel_ms"] / floor_ms, row, grade, text))
    found.sort(key=lambda one: (one[2] != "proved", one[0]))
    return [(row, grade, text) for _, row, grade, text in found]


def _told(row: pd.Series) -> tuple[Grade, float, str] | None:
    gpu, named = _gpu(str(row["gpu"]))
    if gpu is None:
        return None
    least = floors(row["flops"], row["bytes"], gpu)
    if row["kernel_ms"] < least.hard_ms:
        return (
            "proved" if named else "hint",
            least.hard_ms,
            f"under {milliseconds(least.hard_ms)}, the least on any unit",
        )
    if row["kernel_ms"] < least.fp32_ms:
        return "hint", least.fp32_ms, f"under {milliseconds(least.fp32_ms)}, the least in fp32 from a cold cache"
    return None


def _gpu(name: str) -> tuple[Gpu | None, bool]:
    """The GPU of that name, and whether it was named; a fastest one put together of all where none was."""
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
