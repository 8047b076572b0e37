"""The formats of datasets, by their columns. The table at the end is the list of what is known, tried in its order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from audit.claims.importers.tables import Table
from audit.lint.datasets import work
from audit.lint.datasets.dataset import NOT_STATED, RATIO, TIME, Format, digests, labels, present, sound, truths
from audit.model import gpus
from audit.model.errors import BadInput

_KERNEL = "CUDA_Runtime"
_TIMES = {"PyTorch_Native_Runtime": "eager", "PyTorch_Compile_Runtime": "torch.compile"}
_SPEEDUPS = {"CUDA_Speedup_Native": "eager", "CUDA_Speedup_Compile": "torch.compile"}
_TASK = "PyTorch_Code_Module"


def _of_archive(table: Table) -> dict[str, Any]:
    """See `Format.convert`; a speedup that is not stated is the quotient of the times."""
    frame = table.frame
    rows = {
        "level": labels(frame, "Level_ID"),
        "task": labels(frame, "Task_ID"),
        "kernel": labels(frame, "Kernel_Name"),
        "correct": truths(frame, "Correct"),
        "digest": digests(frame, "CUDA_Code"),
        "has_code": present(frame, "CUDA_Code"),
        "kernel_time": frame[_KERNEL],
    }
    return {**rows, **_named(frame, _TIMES, TIME), **_ratios(frame), **work.of_tasks(frame, _TASK)}


def _ratios(frame: pd.DataFrame) -> dict[str, pd.Series]:
    found: dict[str, pd.Series] = {}
    for (time, name), stated in zip(_TIMES.items(), _SPEEDUPS, strict=True):
        quotient = frame[time] / frame[_KERNEL] if time in frame else pd.Series(float("nan"), index=frame.index)
        found[RATIO + name] = frame[stated].fillna(quotient) if stated in frame else quotient
    return found


ARCHIVE = Format(
    name="AI CUDA Engineer Archive",
    needs=("Level_ID", "Task_ID", _KERNEL),
    figures=(_KERNEL, *_TIMES, *_SPEEDUPS),
    others=("Level_ID", "Task_ID", "Kernel_Name", "Correct", "CUDA_Code", _TASK),
    baselines=tuple(_TIMES.values()),
    sources=("Op_Name", "PyTorch_Code_Functional", "Max_Diff"),
    convert=_of_archive,
)
"""The AI CUDA Engineer Archive: many kernels a task with their times, of which the dataset marks some as wrong.

Source of the columns: the dataset card of https://huggingface.co/datasets/SakanaAI/AI-CUDA-Engineer-Archive. No row
names a GPU.
"""


_SCORES = {
    "score_default": "eager",
    "score_torch_compile_default": "torch.compile",
    "score_torch_compile_reduce_overhead": "torch.compile, reduce-overhead",
    "score_cuda_graph": "CUDA graph",
    "score_cudnn": "cuDNN flags",
}


def _named(frame: pd.DataFrame, baselines: Mapping[str, str], kind: str) -> dict[str, pd.Series]:
    """Return the columns of ratios or times that are there, under `kind` and the names of their baselines."""
    return {kind + name: frame[column] for column, name in baselines.items() if column in frame}


def _of_cuda_l1(table: Table) -> dict[str, Any]:
    """See `Format.convert`; without a column for it, the file's name is the GPU's."""
    frame = table.frame
    stem = table.path.name.partition(".")[0]
    names = labels(frame, "gpu") if "gpu" in frame else pd.Series(stem, index=frame.index)
    coded = present(frame, "custom_code") if "custom_code" in frame else truths(frame, "has_code")
    rows = {
        "gpu": names.map({name: gpus.described(name) for name in names.unique()}),
        "level": labels(frame, "level_id"),
        "task": labels(frame, "task_id"),
        "digest": digests(frame, "custom_code"),
        "has_code": coded,
    }
    return {**rows, **_named(frame, _SCORES, RATIO)}


CUDA_L1 = Format(
    name="CUDA-L1",
    needs=("level_id", "task_id", "score_default"),
    figures=tuple(_SCORES),
    others=("gpu", "level_id", "task_id", "has_code", "custom_code"),
    baselines=tuple(_SCORES.values()),
    sources=("ref_code",),
    convert=_of_cuda_l1,
)
"""CUDA-L1: one row a task and GPU, five ratios baseline time / kernel time, no times.

Source of the columns: README of https://github.com/deepreinforce-ai/CUDA-L1. The release has one JSONL file a GPU with
the code in it; a table of its scores names the GPU in a column and says with `has_code` whether there was code.
"""


_RATIOS = {
    "torch.matmul": "torch.matmul",
    "cuBLAS-max": "cuBLAS",
    "cuBLASLt-heuristic-max": "cuBLASLt-heuristic",
    "cuBLASLt-auto-tuning-max": "cuBLASLt-AutoTuning",
}
_ITEM_BYTES = 2


def _of_cuda_l2(table: Table) -> dict[str, Any]:
    """See `Format.convert`; a row whose shape is not three sizes has no work."""
    frame = table.frame
    named = table.path.name.partition(".")[0].split("_")  # cuda_l2_<gpu>_<types>_speedup_<mode>
    gpu, types, mode = (named[2], named[3], named[-1]) if len(named) == 6 else ("", "", "")
    sizes = labels(frame, "mnk").str.extract(r"^(\d{1,7})_(\d{1,7})_(\d{1,7})$").astype(float)
    m, n, k = (sizes[place] for place in range(3))
    rows = {
        "level": f"{types}, {mode}" if types else "",
        "task": labels(frame, "mnk"),
        "has_code": True,
        "flops": 2 * m * n * k,
        "bytes": _ITEM_BYTES * (m * k + k * n + m * n),
    }
    rows |= {"gpu": gpus.described(gpu)} if gpu else {}
    return {**rows, **_named(frame, _RATIOS, RATIO)}


CUDA_L2 = Format(
    name="CUDA-L2",
    needs=("mnk", "torch.matmul"),
    figures=tuple(_RATIOS),
    others=("mnk",),
    baselines=tuple(_RATIOS.values()),
    sources=(),
    convert=_of_cuda_l2,
)
"""CUDA-L2: one row a shape of a half-precision matrix product, ratios over four libraries, one file a GPU and mode.

Source of the columns: eval_results/ of https://github.com/deepreinforce-ai/CUDA-L2. A file's name gives the GPU, the
types of sums and operands, and whether calls were timed back to back (offline) or with pauses (server). The columns
`-tn` and `-nn` are the two layouts of one baseline; `-max` is the ratio over the faster of them, and is read here.
The release has a `.cu` file for every row.
"""


_TASKS = ("problem_id", "task_id", "key")
_LEVELS = ("level", "level_id")
_CODES = ("kernel", "custom_code")


def _of_kernelbench(table: Table) -> dict[str, Any]:
    """See `Format.convert`; a sample counts as right if it compiled and was marked correct."""
    frame = table.frame
    kernel_time, baseline_time = frame["runtime"], frame["ref_runtime"]
    source = _first(frame, _CODES)
    return {
        "gpu": frame["metadata"].map(_gpu) if "metadata" in frame else pd.Series(NOT_STATED, index=frame.index),
        "level": labels(frame, _first(frame, _LEVELS)),
        "task": labels(frame, _first(frame, _TASKS)),
        "kernel": labels(frame, "sample_id").map(lambda number: f"sample {number}" if number else ""),
        "correct": truths(frame, "correctness") & truths(frame, "compiled"),
        "has_code": present(frame, source) if source else pd.Series(True, index=frame.index),
        "digest": digests(frame, source),
        "kernel_time": kernel_time,
        TIME + "eager": baseline_time,
        RATIO + "eager": baseline_time / kernel_time,
    }


def _first(frame: pd.DataFrame, names: tuple[str, ...]) -> str:
    return next((name for name in names if name in frame), "")


def _gpu(metadata: Any) -> str:
    result = metadata.get("hardware") if isinstance(metadata, dict) else None
    return gpus.described(sound(result)) if isinstance(result, str) and result.strip() else NOT_STATED


KERNELBENCH = Format(
    name="KernelBench results",
    needs=("correctness", "runtime", "ref_runtime"),
    figures=("runtime", "ref_runtime"),
    others=("correctness", "compiled", "metadata", "sample_id", *_TASKS, *_LEVELS, *_CODES),
    baselines=("eager",),
    sources=(),
    convert=_of_kernelbench,
    none=-1.0,
)
"""KernelBench results: one row a sample of a task, with its own time and that of the eager reference.

Source of the columns: `KernelExecResult` in src/kernelbench/eval.py of https://github.com/ScalingIntelligence/KernelBench.
A comment there calls `runtime` microseconds while the values come from a clock that gives milliseconds; the unit is
therefore read from the values (`audit.lint.datasets.reading`). A time of -1 stands for none.
"""


_RUNTIME = "Runtime (ms)"
_OVER = {"Speedup": "eager", "Speedup Compile": "torch.compile"}


def _of_robust_kbench(table: Table) -> dict[str, Any]:
    """See `Format.convert`; a task has a forward and a backward part."""
    frame = table.frame
    forward = truths(frame, "forward").map({True: "forward", False: "backward"})
    return {
        "level": "",
        "task": labels(frame, "task_name") + " " + forward,
        "kernel": labels(frame, "Kernel Name"),
        "correct": truths(frame, "Correct"),
        "digest": digests(frame, "Code"),
        "has_code": present(frame, "Code"),
        "kernel_time": frame[_RUNTIME],
        **_named(frame, _OVER, RATIO),
    }


ROBUST_KBENCH = Format(
    name="robust-kbench results",
    needs=("task_name", "forward", _RUNTIME),
    figures=(_RUNTIME, *_OVER),
    others=("task_name", "forward", "Kernel Name", "Correct", "Code"),
    baselines=tuple(_OVER.values()),
    sources=(),
    convert=_of_robust_kbench,
)
"""robust-kbench results: one row a kernel of a task's forward or backward part, its time and two ratios.

Source of the columns: highlighted/results.csv of https://github.com/SakanaAI/robust-kbench. No row names a GPU.
"""


FORMATS: dict[str, Format] = {one.name: one for one in (ARCHIVE, CUDA_L1, CUDA_L2, KERNELBENCH, ROBUST_KBENCH)}


def recognised(columns: Sequence[str], *, file: str) -> Format:
    """Return the format whose columns these are. Raises BadInput with the columns that each would need."""
    found = next((one for one in FORMATS.values() if set(one.needs) <= set(columns)), None)
    if found is not None:
        return found
    needs = "; ".join(f"{one.name}: {', '.join(one.needs)}" for one in FORMATS.values())
    raise BadInput(f"{file}: no known dataset has columns {', '.join(columns) or 'none'}; needed for {needs}")
