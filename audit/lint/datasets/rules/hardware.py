"""Rules about the GPUs that the rows name."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from audit.lint.datasets.answer import Answer, Grade, count, mark, not_asked, rule, times, unless_empty
from audit.lint.datasets.dataset import MS_PER, NOT_STATED, Dataset, place
from audit.model import gpus
from audit.model.gpus import Gpu
from audit.report.messages import milliseconds
from audit.report.view import Table

MOST_UNDER = 8
Numbers = npt.NDArray[Any]
FASTER = 1.1
MOST_APART = 6


def floors(flops: Numbers, moved: Numbers, gpu: Gpu) -> tuple[Numbers, Numbers]:
    """Return the least times of work of so many operations and bytes, in milliseconds, one an entry.

    The first holds for any precision and a warm cache; the second for CUDA cores and a cold one.
    """
    beyond_cache = np.maximum(0.0, moved - gpu.l2_bytes)
    fastest_tflops = 1 / gpu.fastest_compute_ms(1e9)
    hard_ms = np.maximum(flops / fastest_tflops / 1e9, beyond_cache / gpu.memory_gb_s / 1e6)
    fp32_ms = np.maximum(flops / gpu.fp32_tflops / 1e9, moved / gpu.memory_gb_s / 1e6)
    return hard_ms, fp32_ms


@rule("Times against the hardware floor")
def floor(data: Dataset) -> Answer:
    """Is a published time shorter than the hardware allows for the work of its task?

    Only tasks whose text fixes their shapes and whose work is one dense operation are asked
    (`audit.lint.datasets.work`). Proved is a time under what the fastest unit of the GPU named allows, whatever its
    precision, and under what is left to move when everything the L2 cache holds is there already. A time under the
    fp32 floor or the plain memory floor, or one of rows that name no GPU, held against the fastest GPU known, is a
    hint.
    """
    timed = data.frame[data.frame["kernel_time"].notna()]
    if timed.empty:
        return not_asked("no times are published, only ratios; a ratio fixes no time")
    if data.unit is None:
        return not_asked("the unit of the times is unknown; give --unit")
    known = timed[timed["flops"].notna()]
    if known.empty:
        return not_asked("no row holds a task whose text fixes its shapes")
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
    rows = tuple((place(row), milliseconds(row["kernel_ms"]), text, grade) for row, grade, text in under[:MOST_UNDER])
    columns = ("Row", "Published time", "Floor", "Grade")
    tables = unless_empty(Table("Rows farthest under a floor", columns, rows, frozenset({1})))
    marks = tuple(mark(row, grade, f"{milliseconds(row['kernel_ms'])}: {text}") for row, grade, text in under)
    return Answer(tuple(sentences), bias, tables, marks)


def _under(rows: pd.DataFrame) -> list[tuple[pd.Series, Grade, str]]:
    """Return the rows under a floor, proved ones first, then by how far."""
    found: list[tuple[float, pd.Series, Grade, str]] = []
    for name, part in rows.groupby("gpu", sort=False):
        gpu, named = _gpu(str(name))
        if gpu is not None:
            hard_ms, fp32_ms = floors(part["flops"].to_numpy(), part["bytes"].to_numpy(), gpu)
            result = part.assign(hard_ms=hard_ms, fp32_ms=fp32_ms)
            slow = result[result["kernel_ms"] < np.maximum(hard_ms, fp32_ms)]
            found += [_below(row, named=named) for _, row in slow.iterrows()]
    found.sort(key=lambda one: (one[2] != "proved", one[0]))
    return [(row, grade, text) for _, row, grade, text in found]


def _below(row: pd.Series, *, named: bool) -> tuple[float, pd.Series, Grade, str]:
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


@rule("From GPU to GPU")
def portability(data: Dataset) -> Answer:
    """Does a speedup on one GPU hold on another?

    Compared are tasks scored on every GPU, so that no GPU's figure speaks of easier tasks than another's. Whether the
    code is the same on each is said where the dataset holds it.
    """
    gpus = list(data.frame["gpu"].unique())
    if len(gpus) < 2:
        return not_asked("one GPU only")
    pivot = data.scored.pivot_table(index=["level", "task"], columns="gpu", values=data.headline, aggfunc="median")
    common = pivot.dropna().reindex(columns=gpus)
    if len(common) < 2:
        return not_asked("fewer than two tasks are scored on every GPU")
    spread = (common.max(axis=1) / common.min(axis=1)).sort_values(ascending=False, kind="stable")
    every, some = (common > FASTER).all(axis=1).sum(), (common > FASTER).any(axis=1).sum()
    ranks = common.rank().corr()
    lowest = min((float(ranks.loc[a, b]), a, b) for a in gpus for b in gpus if a != b)
    sentences = (
        f"{len(common):,} of {len(pivot):,} tasks are scored on all {len(gpus)} GPUs; of these {every:,} are more than "
        f"{FASTER:g}x on every one and {some:,} on at least one.",
        f"Lowest rank correlation: {lowest[0]:.2f} between {lowest[1]} and {lowest[2]}.",
        _code(data),
    )
    bias = (
        "Tasks scored on every GPU are those that worked everywhere: their figures err high against all tasks.",
        "A ratio speaks of the GPU it was taken on and of no other; wrong results carry over, speed does not.",
    )
    tables = (_medians(common, data), _ranks(ranks), _farthest(common.loc[spread.index[:MOST_APART]], spread))
    return Answer(sentences, bias, tables)


def _medians(common: pd.DataFrame, data: Dataset) -> Table:
    rows = tuple(
        (str(gpu), f"{int((data.scored['gpu'] == gpu).sum()):,}", times(common[gpu].median()),
         f"{int((common[gpu] > FASTER).sum()):,} of {len(common):,}")
        for gpu in common
    )  # fmt: skip
    columns = ("GPU", "Scored tasks", "Median over the common tasks (errs high)", f"Over {FASTER:g}x")
    return Table("The tasks scored on every GPU", columns, rows, frozenset({1, 2, 3}))


def _ranks(ranks: pd.DataFrame) -> Table:
    rows = tuple((str(gpu), *(f"{ranks.loc[gpu, other]:.2f}" for other in ranks)) for gpu in ranks)
    columns = ("Rank correlation", *map(str, ranks))
    return Table("How alike the order of the tasks is", columns, rows, frozenset(range(1, len(columns))))


def _farthest(rows: pd.DataFrame, spread: pd.Series) -> Table:
    found = tuple(
        (f"level {place[0]}, task {place[1]}", *(times(value) for value in row), times(spread[place]))
        for place, row in rows.iterrows()
    )
    columns = ("Task", *map(str, rows), "Largest / smallest")
    return Table("Tasks that differ most from GPU to GPU", columns, found, frozenset(range(1, len(columns))))


def _code(data: Dataset) -> str:
    coded = data.scored[data.scored["digest"] != ""]
    if coded.empty:
        return "The rows hold no code, so whether one kernel ran on every GPU is not known here."
    kinds = coded.groupby(["level", "task"])["digest"].nunique()
    gpus = coded.groupby(["level", "task"])["gpu"].nunique()
    several = kinds[gpus > 1]
    return f"{int((several == 1).sum()):,} of {len(several):,} tasks have the same code on every GPU."
