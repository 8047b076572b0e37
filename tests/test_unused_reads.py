"""A race none of whose reads reaches the result is a hint; one whose reads do, by any way, is undefined behaviour.

llm.c's softmax_forward_kernel7 reads past its row at the last column, and drops what it read.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import audit
from audit.report import evidence
from tests.importers import published

pytestmark = pytest.mark.audits

SOURCE = """#include <torch/extension.h>

__global__ void scaled(const float* x, float* y, int n) {
    __shared__ float held[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i];
    float read = y[min(i, n - 1)];
    BODY
}

torch::Tensor scaled_of(torch::Tensor x) {
    auto y = torch::empty_like(x);
    scaled<<<(x.numel() + 63) / 64, 64>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.numel());
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &scaled_of); }
"""
REDUCED = """#include <torch/extension.h>

__device__ float block_sum(float value, float* held) {
    held[threadIdx.x] = value;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) held[threadIdx.x] += held[threadIdx.x + half];
        __syncthreads();
    }
    return held[0];
}

__global__ void rows_kernel(const float* x, float* y, int cols) {
    __shared__ float held[256];
    const float* row = x + static_cast<int64_t>(blockIdx.x) * cols;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < cols; i += 256) { sum += row[i]; squares += row[i] * row[i]; }
    const float total = block_sum(sum, held);
    const float total_squares = block_sum(squares, held);
    if (threadIdx.x == 0) { y[2 * blockIdx.x] = total; y[2 * blockIdx.x + 1] = total_squares; }
}

torch::Tensor rows(torch::Tensor x) {
    auto y = torch::empty({x.size(0), 2}, x.options());
    rows_kernel<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &rows); }
"""
ROWS = """import torch

M, N = 16384, 1024


def reference(x):
    return torch.stack([x.sum(1), (x * x).sum(1)], 1)


def get_inputs():
    return [torch.randn(M, N)]
"""
TASK = """import torch

N = 100


def reference(x):
    return 2 * x


def get_inputs():
    return [torch.randn(N)]
"""


@pytest.mark.parametrize(
    ("body", "grade"),
    [
        ("held[threadIdx.x] = read; if (i < n) y[i] = 2 * held[threadIdx.x];", "hint"),
        ("if (i < n) y[i] = 2 * read; else y[n - 1] = 2 * x[n - 1] + fmaxf(read, -1e30f) * 1e-30f;", "undefined"),
        ("if (i >= n && read > 1e30f) y[0] = read; if (i < n) y[i] = 2 * read;", "undefined"),
        ("if (i < n) y[i] = 2 * read; else y[n - 1] = read;", "undefined"),
    ],
)
def test_a_race_counts_where_what_it_reads_reaches_the_result(tmp_path: Path, body: str, grade: str) -> None:
    folder = published.write(tmp_path / "s", scaled__cu=SOURCE.replace("BODY", body), task__py=TASK)
    record = audit.check(folder / "scaled.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
    found = evidence.find(record, "memory_access", "claimed")
    assert found is not None and found.grade == grade, found
    assert ("whatever is read there" in found.summary) is (grade == "hint")
    assert (record.verdict.name == "no defect found") is (grade == "hint")


def test_such_a_race_is_a_hint_at_a_claimed_shape_of_which_a_few_blocks_run(tmp_path: Path) -> None:
    folder = published.write(tmp_path / "s", rows__cu=REDUCED, task__py=ROWS)
    record = audit.check(folder / "rows.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
    found = evidence.find(record, "memory_access", "claimed")
    assert found is not None and found.grade == "hint", found
    assert "race-shared" in found.summary and "whatever is read there" in found.summary
    assert record.verdict.name == "no defect found", record.verdict
