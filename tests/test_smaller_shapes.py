"""A smaller shape that the kit chose decides nothing that the claimed one answers otherwise; refused launches."""

from __future__ import annotations

from pathlib import Path

import pytest

import audit
from audit.model import Record
from audit.report import evidence
from tests.importers import published

ROW_SUMS = """#include <torch/extension.h>

__global__ void row_sums(const float* x, float* y, int columns) {
    __shared__ float sums[256];
    const float* row = x + (long)blockIdx.x * columns;
    float sum = 0.0f;
    PART
    sums[threadIdx.x] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[blockIdx.x] = sums[0];
}

torch::Tensor sums_of(torch::Tensor x) {
    auto y = torch::empty({x.size(0)}, x.options());
    row_sums<<<x.size(0), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &sums_of); }
"""
TASK = """import torch

N = 128
K = 8192


def reference(x):
    return x.sum(1)


def get_inputs():
    return [torch.randn(N, K)]
"""
PARTS = "int part = {}; for (int j = 0; j < part; ++j) sum += row[threadIdx.x * part + j];"
STRIDED = "int end = {}; for (int j = threadIdx.x; j < end; j += 256) sum += row[j];"


@pytest.mark.parametrize(
    ("part", "verdict", "blocks"),
    [
        (PARTS.format("(columns >> 9) * 2"), "no defect found", "pass"),  # right where 512 divides columns, zero at 256
        (PARTS.format("(columns >> 9)"), "wrong", "fail"),
        (STRIDED.format("columns"), "no defect found", "pass"),
        (STRIDED.format("columns - (columns >> 12)"), "wrong", "fail"),  # right below 4,096
    ],
)
def test_the_claimed_shape_decides_about_a_kernel_that_differs_at_a_smaller_one(
    tmp_path: Path, part: str, verdict: str, blocks: str
) -> None:
    folder = published.write(tmp_path / "s", sums__cu=ROW_SUMS.replace("PART", part), task__py=TASK)
    record = audit.check(folder / "sums.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
    found = evidence.find(record, "claimed_blocks", "claimed")
    assert found is not None and found.outcome == blocks, found
    assert record.verdict.name == verdict, record.verdict


TWICE = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    STATIC
    if (i < n) y[i] = 2 * x[i];
}

torch::Tensor twice_of(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int n = x.numel();
    LIMIT
    twice<<<LAUNCH>>>(x.data_ptr<float>(), y.data_ptr<float>(), n);
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &twice_of); }
"""
WANTED = "cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000);"
LOOKED_UP = "auto most = at::cuda::getCurrentDeviceProperties()->sharedMemPerBlockOptin; if (most < 100000) n += 0;"
LARGE = "(n + 127) / 128, 128, 100000"


@pytest.mark.parametrize(
    ("launch", "limit", "verdict", "words"),
    [
        ("(n + 2047) / 2048, 2048", "", "wrong", "block (2048, 1, 1) has 2048 threads; at most 1,024"),
        ("n / 250000, 128", "", "wrong", "4 of 4 blocks run; 999,488 of 1,000,000 elements are never written"),
        (LARGE, "", "wrong", "100000 bytes of dynamic shared memory asked for, 49152 allowed"),
        (LARGE, WANTED, "undecided", "a newer GPU allows that much"),
        (LARGE, LOOKED_UP, "undecided", "a newer GPU allows that much"),
    ],
)
def test_a_launch_that_no_gpu_takes_is_wrong(tmp_path: Path, launch: str, limit: str, verdict: str, words: str) -> None:
    record = audited(tmp_path, launch, limit)
    assert record.verdict.name == verdict, record.verdict
    assert any(words in one.summary for one in record.findings if one.target == "claimed"), record.findings


@pytest.mark.parametrize(
    ("floats", "dynamic", "attribute", "verdict"),
    [  # each ends so on an H200, where the attribute bounds the dynamic part alone
        (512, 47_104, None, "no defect found"),
        (516, 47_104, None, "wrong"),
        (528, 60_000, 60_000, "no defect found"),
        (2048, 45_056, 45_056, "no defect found"),
        (528, 60_064, 60_000, "wrong"),
    ],
)
def test_an_attribute_leaves_room_for_static_shared_memory(
    tmp_path: Path, floats: int, dynamic: int, attribute: int | None, verdict: str
) -> None:
    static = f"__shared__ float held[{floats}]; held[threadIdx.x] = i;"
    limit = WANTED.replace("100000", str(attribute)) if attribute else ""
    record = audited(tmp_path, f"(n + 127) / 128, 128, {dynamic}", limit, static)
    assert record.verdict.name == verdict, record.verdict


def audited(tmp_path: Path, launch: str, limit: str, static: str = "") -> Record:
    """Audit a kernel that doubles a million numbers, with that launch."""
    text = TWICE.replace("LAUNCH", launch).replace("LIMIT", limit).replace("STATIC", static)
    task = TASK.replace("N = 128\nK = 8192", "N = 1000000").replace("N, K", "N").replace("x.sum(1)", "2 * x")
    folder = published.write(tmp_path / "s", twice__cu=text, task__py=task)
    return audit.check(folder / "twice.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
