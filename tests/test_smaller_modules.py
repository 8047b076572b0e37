"""A module of smaller sizes takes the place of one too large for the emulated device."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit.apps import cli
from audit.model import store
from audit.report import evidence
from tests.importers import published

pytestmark = pytest.mark.audits

LINEAR_TASK = """import torch
import torch.nn as nn


class Model(nn.Module):
    def __init__(self, inner, outer, shift):
        super().__init__()
        self.linear = nn.Linear(inner, outer)
        self.shift = shift

    def forward(self, x):
        return self.linear(x) + self.shift


rows = 272
inner = 8192
outer = 8192
shift = 2.0


def get_inputs():
    return [torch.randn(rows, inner)]


def get_init_inputs():
    return [inner, outer, shift]
"""
LINEAR = """import torch
import torch.nn as nn
from torch.utils.cpp_extension import load_inline

CUDA = r'''
#include <torch/extension.h>
__global__ void linear(const float* x, const float* w, const float* b, float* y, int m, int n, int k, float shift) {
    int col = blockIdx.x * 16 + threadIdx.x, row = blockIdx.y * 16 + threadIdx.y;
    if (row >= m || col >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < END; ++i) sum += x[(long)row * k + i] * w[(long)col * k + i];
    y[(long)row * n + col] = sum + b[col] + shift;
}
torch::Tensor run(torch::Tensor x, torch::Tensor w, torch::Tensor b, double shift) {
    int m = x.size(0), k = x.size(1), n = w.size(0);
    auto y = torch::empty({m, n}, x.options());
    linear<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(x.data_ptr<float>(), w.data_ptr<float>(),
        b.data_ptr<float>(), y.data_ptr<float>(), m, n, k, shift);
    return y;
}
'''
CPP = "torch::Tensor run(torch::Tensor, torch::Tensor, torch::Tensor, double);"
extension = load_inline("linear", CPP, CUDA, functions=["run"])


class ModelNew(nn.Module):
    def __init__(self, inner, outer, shift):
        super().__init__()
        self.linear, self.shift = nn.Linear(inner, outer), shift

    def forward(self, x):
        return extension.run(x, self.linear.weight, self.linear.bias, self.shift)
"""


@pytest.mark.parametrize(("end", "verdict"), [("k", "no defect found"), ("k / 2", "wrong")])
def test_a_module_is_asked_smaller_too(tmp_path: Path, end: str, verdict: str) -> None:
    folder = published.write(tmp_path / "s", task__py=LINEAR_TASK, solution__py=LINEAR.replace("END", end))
    arguments = ["--device", "emulated", "--seed", "5", "--out", str(tmp_path / "out")]
    assert cli.main(["check", str(folder), *arguments]) == 0
    record = store.read(tmp_path / "out" / "results" / "record.json")
    found = evidence.find(record, "agreement", "claimed")
    assert found is not None and found.evidence["shapes"][0]["shape"] == {"rows": 16, "inner": 256, "outer": 256}
    assert record.verdict.name == verdict, record.verdict
    sweep = next(one for one in record.findings if one.probe == "sweep")
    asked = sweep.evidence["sizes"]
    assert isinstance(asked, list) and len(asked) > 3, sweep
    assert {(one["sizes"]["inner"], one["sizes"]["outer"]) for one in asked} == {(256, 256)}
