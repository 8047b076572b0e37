"""KernelBench results: one row a sample of a task, with its own time and that of the eager reference.

Source of the columns: `KernelExecResult` in src/kernelbench/eval.py of https://github.com/ScalingIntelligence/KernelBench.
A comment there calls `runtime` microseconds while the values come from a clock that gives milliseconds; the unit is
therefore read from the values (`audit.lint.datasets.reading`). A time of -1 stands for none.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

from audit.claims.importers.tables import Table
from audit.lint.datasets.dataset import NOT_STATED, RATIO, TIME, completed
from audit.lint.datasets.format import Format, digests, labels, present, sound, truths
from audit.model import gpus

TASKS = ("problem_id", "task_id", "key")
LEVELS = ("level", "level_id")
CODES = ("kernel", "custom_code")


def convert(table: Table) -> pd.DataFrame:
    """See `Format.convert`; a sample counts as right if it compiled and was marked correct."""
    frame = table.frame
    kernel_time, baseline_time = frame["runtime"], frame["ref_runtime"]
    source = _first(frame, CODES)
    rows = {
        "gpu": frame["metadata"].map(_gpu) if "metadata" in frame else pd.Series(NOT_STATED, index=frame.index),
        "level": labels(frame, _first(frame, LEVELS)),
        "task": labels(frame, _first(frame, TASKS)),
        "kernel": labels(frame, "sample_id").map(lambda number: f"sample {number}" if number else ""),
        "correct": truths(frame, "correctness", absent=True) & truths(frame, "compiled", absent=True),
        "has_code": present(frame, source) if source else pd.Series(True, index=frame.index),
        "digest": digests(frame, source),
        "kernel_time": kernel_time,
        TIME + "eager": baseline_time,
        RATIO + "eager": baseline_time / kernel_time,
    }
    return completed(pd.DataFrame(rows, index=frame.index))


def _first(frame: pd.DataFrame, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in frame), "")


def _gpu(metadata: Any) -> str:
    result = metadata.get("hardware") if isinstance(metadata, dict) else None
    return gpus.described(sound(result)) if isinstance(result, str) and result.strip() else NOT_STATED


FORMAT = Format(
    name="KernelBench results",
    needs=("correctness", "runtime", "ref_runtime"),
    figures=("runtime", "ref_runtime"),
    others=("correctness", "compiled", "metadata", "sample_id", *TASKS, *LEVELS, *CODES),
    baselines=("eager",),
    sources=(),
    convert=convert,
    none=-1.0,
)
