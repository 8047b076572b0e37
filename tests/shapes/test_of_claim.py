"""The numbers of a claim: those that its entry needs."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.shapes.counting import counts
from audit.claims.shapes.numbers import of_claim
from tests.importers import published

TASK = """import torch

batch_size = 32768


class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2


def get_inputs():
    return [torch.rand(batch_size, 512)]


def get_init_inputs():
    return []
"""
SOLUTION = (
    TASK.replace("Model", "ModelNew").replace("x * 2", "doubled(x, 96)")
    + """

def doubled(x, block):
    return x + x
"""
)


@pytest.mark.parametrize("benchmark", [True, False])
def test_sizes_of_a_benchmark_beside_the_solution_are_none_of_its_numbers(tmp_path: Path, benchmark: bool) -> None:
    """Solutions of KernelBench often repeat the task's sizes and `get_inputs`."""
    solution = SOLUTION if benchmark else SOLUTION.replace("batch_size = 32768", "batch_size = 1")
    folder = published.write(tmp_path / "s", task__py=TASK, solution__py=solution)
    writer.write(importers.read([folder]), tmp_path / "claim")
    claim = claims.load(str(tmp_path / "claim")).claim
    known = of_claim(claim, tmp_path / "claim")
    assert 96 in known and 32768 not in known
    assert counts(claim.shapes.emulated[0], claim.shapes, known)
    assert claim.shapes.emulated[0]["batch_size"] < 32768
