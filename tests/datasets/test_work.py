"""The least work of a task comes from its text alone, and only where the text is plain."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from audit.lint.datasets.rules.hardware import floors
from audit.lint.datasets.work import of_task
from audit.model.gpus import table

TASK = """import torch
import torch.nn.functional as F
class Model:
    def forward(self, {arguments}):
        \"\"\"What it does.\"\"\"
        return {result}
M, K = 8, 4
N = 8 * 2
shape = (M, K)
def get_inputs():
    a = torch.randn(*shape)
    return [a{more}]
"""


def work(arguments: str, result: str, more: str = "") -> tuple[float, float] | None:
    found = of_task(TASK.replace("M, K = 8, 4", "M = 8\nK = 4").format(arguments=arguments, result=result, more=more))
    return None if found is None else (found.flops, found.bytes)


@pytest.mark.parametrize(
    ("arguments", "result", "more", "found"),
    [
        ("a, b", "torch.matmul(a, b)", ", torch.rand(K, N)", (2.0 * 8 * 16 * 4, 4.0 * (32 + 64 + 128))),
        ("a, b", "a @ b.T", ", torch.rand((N, K)).cuda()", (2.0 * 8 * 16 * 4, 4.0 * (32 + 64 + 128))),
        ("a", "torch.relu(a)", "", (32.0, 256.0)),
        ("a", "F.softmax(a, dim=1)", "", (32.0, 256.0)),
        ("a", "torch.sum(a, dim=1)", "", (32.0, 128.0)),
    ],
)
def test_plain_tasks_have_a_least_work(arguments: str, result: str, more: str, found: tuple[float, float]) -> None:
    assert work(arguments, result, more) == found


@pytest.mark.parametrize(
    ("arguments", "result", "more"),
    [
        ("a", "a @ a.T", ""),  # symmetric: half of it suffices
        ("a, b", "torch.matmul(torch.tril(a), b)", ", torch.rand(K, N)"),
        ("a, b", "torch.matmul(a, b)", ", torch.rand(N, K)"),
        ("a, b", "torch.matmul(a, b)", ", torch.zeros(K, N)"),
        ("a, b", "torch.matmul(a, b)", ", torch.rand(K, N, dtype=torch.float16)"),
        ("a, b", "torch.matmul(a, b)", ", torch.rand(K, unknown)"),
        ("a", "self.conv(a)", ""),
        ("a", "mine.relu(a)", ""),
        ("a", "torch.cumsum(a, 1)", ""),
    ],
)
def test_nothing_is_guessed(arguments: str, result: str, more: str) -> None:
    assert work(arguments, result, more) is None


@pytest.mark.parametrize("text", ["", "def f(", "x = 1", "\0", "(" * 5000, "def get_inputs(): return [1 // 0]"])
def test_odd_texts_have_none(text: str) -> None:
    assert of_task(text) is None


def test_reading_a_task_never_runs_it(tmp_path: Path) -> None:
    trace = tmp_path / "ran"
    of_task(f"open({str(trace)!r}, 'w')\n" + TASK.format(arguments="a", result="torch.relu(a)", more=""))
    assert not trace.exists()


def test_a_warm_cache_is_granted_where_a_time_is_called_impossible() -> None:
    gpu = table()["A100"]
    hard_ms, fp32_ms = floors(np.array([1.0, 1.0]), np.array([1.0, 3.0]) * gpu.l2_bytes, gpu)
    assert hard_ms == pytest.approx([1 / 312e12 * 1e3, 2 * gpu.l2_bytes / 2039e9 * 1e3])
    assert fp32_ms == pytest.approx([gpu.l2_bytes / 2039e9 * 1e3, 3 * gpu.l2_bytes / 2039e9 * 1e3])
