"""A backward kernel of robust-kbench: the function that is called, the gradients that are right, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from audit.apps import cli
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Imported
from audit.model import store
from audit.model.errors import BadInput
from audit.review.reach import reaches
from audit.run.sessions.oracle import load_reference
from tests.importers import published

pytestmark = pytest.mark.audits

TASK = """import torch
import torch.nn as nn


class AutogradFunction(torch.autograd.Function):
    backward_fn = None

    @staticmethod
    def forward(ctx, x, weight, floor):
        rows = x.shape[0]
        ctx.save_for_backward(x, weight)
        ctx.floor = floor
        ctx.rows = rows
        x = torch.relu(x * weight - floor)
        return x

    @staticmethod
    def backward(ctx, grad_output):
        x, weight = ctx.saved_tensors
        grad_x, grad_weight = AutogradFunction.backward_fn(grad_output, x, weight, ctx.floor, ctx.rows)
        return grad_x, grad_weight, None


def forward_fn(x, weight, floor):
    return torch.relu(x * weight - floor)


class Model(nn.Module):
    def __init__(self, features: int = 8, floor: float = 0.25):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(features))
        self.floor = floor

    def forward(self, x, fn=forward_fn):
        return fn(x, self.weight, self.floor)


def get_inputs(batch_size: int = 64, features: int = 8):
    return [torch.randn(batch_size, features, requires_grad=True)]
"""
CONFIG = {
    "single_input_configs": [{"batch_size": 33}],
    "single_init_configs": [{"floor": 0.25}],
    "single_shared_configs": [{"features": 24}],
}
KERNEL = """#include <torch/extension.h>

__global__ void back(const float* g, const float* x, const float* w, float* gx, float* gw,
                     float floor, int rows, int n) {
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j >= n) return;
    float sum = 0.0f;
    for (int i = 0; i < rows; ++i) {
        float kept = x[i * n + j] * w[j] > floor ? g[i * n + j] : 0.0f;
        gx[i * n + j] = kept * w[j];
        sum += kept * x[i * n + j];
    }
    gw[j] = sum;
}

std::vector<torch::Tensor> backward(torch::Tensor g, torch::Tensor x, torch::Tensor w, double floor, int64_t rows) {
    auto gx = torch::empty_like(x), gw = torch::empty_like(w);
    int n = w.numel();
    back<<<(n + 31) / 32, 32>>>(g.data_ptr<float>(), x.data_ptr<float>(), w.data_ptr<float>(),
                                gx.data_ptr<float>(), gw.data_ptr<float>(), floor, rows, n);
    return {gx, gw};
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("backward", &backward); }
"""
FILES = {"func_backward__py": TASK, "config_backward__json": CONFIG, "kernel__cu": KERNEL}
SHAPE = {"features": 24, "batch_size": 33}


def imported(folder: Path, **files: object) -> Imported:
    return importers.read([published.write(folder, **(FILES | files))])


def test_the_call_is_that_of_the_backward_pass_and_does_no_forward(tmp_path: Path) -> None:
    found = imported(tmp_path / "source")
    assert found.claimed is not None and found.auditable and found.title.endswith("backward")
    text = found.claimed.data.decode()
    assert "def audited_entry(x, weight, floor, grad_output):" in text
    assert "_EXTENSION.backward(grad_output, x, weight, _floor, _rows)" in text
    assert "return grad_x, grad_weight\n" in text
    assert "relu(" not in text.partition("def audited_entry")[2]
    assert '"--use_fast_math"' in text
    assert reaches(text) == []


def test_gradients_of_the_function_are_the_right_result(tmp_path: Path) -> None:
    folder = writer.write(imported(tmp_path / "source"), tmp_path / "claim")
    reference = load_reference(str(folder / "reference.py"))
    x, weight, floor, gradient = arguments = reference.inputs(SHAPE, torch.Generator())
    assert (x.shape, weight.shape, floor, gradient.shape) == ((33, 24), (24,), 0.25, (33, 24))
    assert not any(one.requires_grad for one in (x, weight, gradient))
    kept = gradient.double() * (x.double() * weight.double() > floor)
    right = (kept * weight.double(), (kept * x.double()).sum(0))
    for one, own, double in zip(right, reference.reference(*arguments), reference.oracle(*arguments), strict=True):
        torch.testing.assert_close(double, one)
        torch.testing.assert_close(own.double(), one, rtol=1e-5, atol=1e-5)
    assert reference.cost(SHAPE)["bytes"] == 4.0 * (33 * 24 + 24)


def test_of_both_kernels_in_a_folder_the_forward_one_is_claimed(tmp_path: Path) -> None:
    both = published.FORMATS["robust_kbench"] | {"func_backward__py": TASK, "backward__cu": KERNEL}
    found = importers.read([published.write(tmp_path, **both)])
    assert found.claimed is not None and found.claimed.entry == "forward"
    assert "audit import backward.cu func_backward.py config_backward.json" in " ".join(found.choices)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "ctx.floor = floor",
            "ctx.floor = x.mean()",
            "AutogradFunction keeps x.mean(), which forward computes",
        ),
        ("rows = x.shape[0]", "rows = x.sum()", "keeps x.sum(), which forward computes"),
        ("rows = x.shape[0]", "x.relu_()", "line 10 of AutogradFunction.forward is no plain assignment"),
        ("rows = x.shape[0]", "x = torch.relu(x)", "keeps x, which forward computes"),
        ("rows = x.shape[0]", "rows = 3\n        x = x + 1", "keeps x, which forward computes"),
        ("return grad_x, grad_weight, None", "return grad_x, grad_weight", "2 gradients for 3 arguments"),
        ("        return grad_x, grad_weight, None", "        pass", "ends with a return"),
        ("class AutogradFunction", "class Other", "no class AutogradFunction with forward"),
    ],
)
def test_what_does_more_than_the_backward_pass_is_refused(old: str, new: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        imported(tmp_path, func_backward__py=TASK.replace(old, new))
    assert words in str(error.value)


@pytest.mark.parametrize(("change", "verdict"), [("", "no defect found"), ("gw[j] = sum / 2", "wrong")])
def test_every_gradient_is_audited(change: str, verdict: str, tmp_path: Path) -> None:
    kernel = KERNEL.replace("gw[j] = sum", change or "gw[j] = sum")
    source = published.write(tmp_path / "source", **(FILES | {"kernel__cu": kernel}))
    assert cli.main(["check", str(source), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    assert store.read(tmp_path / "out" / "results" / "record.json").verdict.name == verdict
