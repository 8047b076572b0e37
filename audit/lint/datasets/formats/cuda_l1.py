"""CUDA-L1: one row a task and GPU, five ratios baseline time / kernel time, no times.

Source of the columns: README of https://github.com/deepreinforce-ai/CUDA-L1. The release has one JSONL file a GPU with
the code in it; a table of its scores names the GPU in a column and says with `has_code` whether there was code.
"""

from __future__ import annotations

import pandas as pd

from audit.claims.importers.tables import Table
from audit.lint.datasets.dataset import RATIO, completed
from audit.lint.datasets.format import Format, digests, labels, present, truths
from audit.model import gpus

SCORES = {
    "score_default": "eager",
    "score_torch_compile_default": "torch.compile",
    "score_torch_compile_reduce_overhead": "torch.compile, reduce-overhead",
    "score_cuda_graph": "CUDA graph",
    "score_cudnn": "cuDNN flags",
}


def convert(table: Table) -> pd.DataFrame:
    """See `Format.convert`; without a column for it, the file's name is the GPU's."""
    frame = table.frame
    stem = table.path.name.partition(".")[0]
    names = labels(frame, "gpu") if "gpu" in frame else pd.Series(stem, index=frame.index)
    coded = present(frame, "custom_code") if "custom_code" in frame else truths(frame, "has_code", absent=True)
    rows = {
        "gpu": names.map({name: gpus.described(name) for name in names.unique()}),
        "level": labels(frame, "level_id"),
        "task": labels(frame, "task_id"),
        "digest": digests(frame, "custom_code"),
        "has_code": coded,
    }
    ratios = {RATIO + name: frame[column] for column, name in SCORES.items() if column in frame}
    return completed(pd.DataFrame({**rows, **ratios}, index=frame.index))


FORMAT = Format(
    name="CUDA-L1",
    needs=("level_id", "task_id", "score_default"),
    figures=tuple(SCORES),
    others=("gpu", "level_id", "task_id", "has_code", "custom_code"),
    baselines=tuple(SCORES.values()),
    sources=("ref_code",),
    convert=convert,
)
