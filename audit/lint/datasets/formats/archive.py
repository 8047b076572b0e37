"""The AI CUDA Engineer Archive: many kernels a task with their times, of which the dataset marks some as wrong.

Source of the columns: the dataset card of https://huggingface.co/datasets/SakanaAI/AI-CUDA-Engineer-Archive. No row
names a GPU.
"""

from __future__ import annotations

import pandas as pd

from audit.claims.importers.tables import Table
from audit.lint.datasets import work
from audit.lint.datasets.dataset import RATIO, TIME, completed
from audit.lint.datasets.format import Format, digests, labels, present, truths

KERNEL = "CUDA_Runtime"
TIMES = {"PyTorch_Native_Runtime": "eager", "PyTorch_Compile_Runtime": "torch.compile"}
SPEEDUPS = {"CUDA_Speedup_Native": "eager", "CUDA_Speedup_Compile": "torch.compile"}
TASK = "PyTorch_Code_Module"


def convert(table: Table) -> pd.DataFrame:
    """See `Format.convert`; a speedup that is not stated is the quotient of the times."""
    frame = table.frame
    rows: dict[str, pd.Series] = {
        "level": labels(frame, "Level_ID"),
        "task": labels(frame, "Task_ID"),
        "kernel": labels(frame, "Kernel_Name"),
        "correct": truths(frame, "Correct", absent=True),
        "digest": digests(frame, "CUDA_Code"),
        "has_code": present(frame, "CUDA_Code"),
        "kernel_time": frame[KERNEL],
    }
    times = {TIME + name: frame[column] for column, name in TIMES.items() if column in frame}
    made = {**rows, **times, **_ratios(frame), **work.of_tasks(frame, TASK)}
    return completed(pd.DataFrame(made, index=frame.index))


def _ratios(frame: pd.DataFrame) -> dict[str, pd.Series]:
    found: dict[str, pd.Series] = {}
    for (time, name), stated in zip(TIMES.items(), SPEEDUPS, strict=True):
        quotient = frame[time] / frame[KERNEL] if time in frame else pd.Series(float("nan"), index=frame.index)
        found[RATIO + name] = frame[stated].fillna(quotient) if stated in frame else quotient
    return found


FORMAT = Format(
    name="AI CUDA Engineer Archive",
    needs=("Level_ID", "Task_ID", KERNEL),
    figures=(KERNEL, *TIMES, *SPEEDUPS),
    others=("Level_ID", "Task_ID", "Kernel_Name", "Correct", "CUDA_Code", TASK),
    baselines=tuple(TIMES.values()),
    sources=("Op_Name", "PyTorch_Code_Functional", "Max_Diff"),
    convert=convert,
)
