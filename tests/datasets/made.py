"""Small datasets in the formats that are known, written by the tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from audit.lint import datasets
from audit.lint.datasets.dataset import Dataset

TASK = """import torch
class Model:
    def forward(self, a, b):
        return torch.matmul(a, b)
M = 4096
def get_inputs():
    return [torch.randn(M, M), torch.randn(M, M)]
"""


def scores(eager: float | None, compiled: float | None = None, **more: Any) -> dict[str, Any]:
    """A row of CUDA-L1 with two of its five ratios."""
    row = {"level_id": 1, "task_id": 1, "custom_code": "code", "score_default": eager}
    return {**row, "score_torch_compile_default": compiled if compiled is not None else eager, **more}


def archived(kernel: float | None, eager: float | None = 1.0, **more: Any) -> dict[str, Any]:
    """A row of the archive; ratios are left to the times."""
    row = {"Level_ID": 1, "Task_ID": 1, "Kernel_Name": "k", "CUDA_Runtime": kernel, "PyTorch_Native_Runtime": eager}
    return {**row, "Correct": True, "CUDA_Code": "code", "PyTorch_Code_Module": TASK, **more}


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """The rows as JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def cuda_l1(folder: Path, rows: list[dict[str, Any]], *, name: str = "h100.jsonl") -> Dataset:
    """A dataset of such scores; tasks are numbered."""
    return datasets.read(lines(folder / name, [{**row, "task_id": place} for place, row in enumerate(rows, 1)]))


def archive(folder: Path, rows: list[dict[str, Any]], **options: Any) -> Dataset:
    """A dataset of such rows."""
    return datasets.read(lines(folder / "archive.jsonl", rows), **options)
