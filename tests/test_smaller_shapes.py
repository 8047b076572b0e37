"""A smaller shape that the kit chose decides nothing that the claimed one answers otherwise; refused launches."""

from __future__ import annotations

from pathlib import Path

import pytest

import audit
from audit import claims
from audit.build.emulated.build import build
from audit.build.emulated.device import EmulatedDevice
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.device_run import DeviceRun
from audit.model import Record, Shape
from audit.probes.concluding.answer import label
from audit.probes.observing import shapes_asked
from audit.report import evidence
from audit.run.processes.pool import Workers
from tests.emulated.child import run
from tests.importers import published

pytestmark = pytest.mark.audits

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

N = 72
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


BLOCK_AN_ELEMENT = """#include <torch/extension.h>

__global__ void doubled(const float* x, float* y) {
    __shared__ float held;
    if (threadIdx.x == 0) held = x[blockIdx.x];
    __syncthreads();
    if (threadIdx.x == 255) y[blockIdx.x] = 2 * held;
}

torch::Tensor doubled_of(torch::Tensor x) {
    auto y = torch::empty_like(x);
    doubled<<<x.numel(), 256>>>(x.data_ptr<float>(), y.data_ptr<float>());
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &doubled_of); }
"""
DOUBLED_TASK = """import torch

N = 320
K = 1536


def reference(x):
    return 2 * x


def get_inputs():
    return [torch.randn(N, K)]
"""


def run_of(source: Path, folder: Path, workers: Workers) -> DeviceRun:
    """Return a run of the claim of those files on the emulated device, with its cases."""
    claim = claims.load(str(writer.write(importers.read([source], given=Given(tolerance=1e-4)), folder / "claim")))
    (folder / "scratch").mkdir()
    run = DeviceRun(claim, EmulatedDevice(), workers=workers, scratch=folder / "scratch", keep=lambda _: None)
    run.make_cases(entropy=5)
    return run


def test_launches_of_many_threads_are_asked_at_a_smaller_shape(tmp_path: Path, workers: Workers) -> None:
    """The work of the task alone chooses N = 320, with 63 million threads; N = 64 has 12.6 million."""
    source = published.write(tmp_path / "s", doubled__cu=BLOCK_AN_ELEMENT, task__py=DOUBLED_TASK)
    run = run_of(source, tmp_path, workers)
    before, claimed = run.cases[0].shape, run._folder.claim.claimed
    assert claimed is not None
    built = run.build(claimed, "O2").built
    assert built is not None
    said = run.fit_cases(claimed, built)
    assert (before, run.cases[0].shape) == ({"N": 320, "K": 768}, {"N": 4, "K": 768})
    assert said is not None and said.startswith(f"N=4, K=768 in place of {label(before)}, where a call takes")
    assert run.fit_cases(claimed, built) is None


BARRIERS = BLOCK_AN_ELEMENT.replace(
    "if (threadIdx.x == 0) held",
    "for (int i = 0; i < 100; ++i) __syncthreads();\n    if (threadIdx.x == 0) held",
)


@pytest.mark.parametrize(
    ("most_s", "least", "shape"),
    [(0.01, 2, {"N": 2, "K": 8}), (60.0, 2, {"N": 20, "K": 24}), (0.01, 20, {"N": 20, "K": 24})],
)
def test_a_call_that_takes_too_long_is_asked_at_a_smaller_shape(
    tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch, most_s: float, least: int, shape: Shape
) -> None:
    """Few threads wait at many barriers: neither the task nor the launches say what a call costs. A shape that the
    reference refuses is none."""
    monkeypatch.setattr(shapes_asked, "MOST_CALL_S", most_s)
    task = DOUBLED_TASK.replace("N = 320", "N = 20").replace("K = 1536", "K = 24")
    task = task.replace("    return 2", f"    assert len(x) >= {least}\n    return 2")
    source = published.write(tmp_path / "s", doubled__cu=BARRIERS, task__py=task)
    run = run_of(source, tmp_path, workers)
    claimed = run._folder.claim.claimed
    assert claimed is not None
    built = run.build(claimed, "O2").built
    assert built is not None
    run.fit_cases(claimed, built)
    assert run.cases[0].shape == shape
    assert run.cases[0].inputs.exists()


ROWS = """#include <torch/extension.h>

__global__ void first_of_rows(const float* x, float* y, int columns) {
    INDEX start = (INDEX)blockIdx.x * columns;
    if (threadIdx.x == 0) y[blockIdx.x] = x[start];
}

torch::Tensor first_of(torch::Tensor x) {
    auto y = torch::empty({x.size(0)}, x.options());
    first_of_rows<<<x.size(0), 32>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &first_of); }
"""
LARGE_TASK = """import torch

N = 70000
K = 40000


def reference(x):
    return x[:, 0].clone()


def get_inputs():
    return [torch.randn(N, K)]
"""


@pytest.mark.parametrize(("index", "verdict"), [("int", "wrong"), ("long", "no defect found")])
def test_an_index_that_passes_two_to_the_31_at_the_claimed_shape_is_wrong(
    tmp_path: Path, index: str, verdict: str
) -> None:
    folder = published.write(tmp_path / "s", rows__cu=ROWS.replace("INDEX", index), task__py=LARGE_TASK)
    record = audit.check(folder / "rows.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
    assert record.verdict.name == verdict, record.verdict
    if index == "int":
        found = evidence.find(record, "claimed_blocks", "claimed")
        assert found is not None and found.line == 5, found
        assert "N=70000, K=40000, the claimed shape, 4 blocks of each launch on inputs of zeros: ill" in found.summary


SCALED = """#include <torch/extension.h>

__global__ void scale(const float* x, float* y, int cols) {
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col < cols) y[static_cast<INDEX>(blockIdx.y) * cols + col] = 2 * x[static_cast<INDEX>(blockIdx.y) * cols + col];
}

torch::Tensor scaled(torch::Tensor x) {
    auto y = torch::empty_like(x);
    scale<<<dim3((x.size(1) + 255) / 256, x.size(0)), 256>>>(x.data_ptr<float>(), y.data_ptr<float>(), x.size(1));
    return y;
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &scaled); }
"""


@pytest.mark.parametrize(("index", "verdict"), [("int", "wrong"), ("long", "no defect found")])
def test_an_input_and_a_result_may_have_ten_billion_bytes_each(tmp_path: Path, index: str, verdict: str) -> None:
    task = LARGE_TASK.replace("70000", "60000").replace("x[:, 0].clone()", "2 * x")
    folder = published.write(tmp_path / "s", scaled__cu=SCALED.replace("INDEX", index), task__py=task)
    record = audit.check(folder / "scaled.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
    assert record.verdict.name == verdict, record.verdict
    assert [one.line for one in record.findings if one.probe == "claimed_blocks" and one.grade] == [5] * (
        index == "int"
    )


INDEXED = """import torch
import triton
import triton.language as tl


@triton.jit
def sums(x, lengths, out, stride, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    values = tl.load(x + row * stride + column, mask=column < tl.load(lengths + row), other=0.0)
    tl.store(out + row, tl.sum(values, axis=0))


def kernel(x, lengths):
    out = torch.empty(x.shape[0], device=x.device)
    sums[(x.shape[0],)](x, lengths, out, x.stride(0), BLOCK=triton.next_power_of_2(int(lengths.max())))
    return out
"""
INDEXED_TASK = """import torch

ROWS = 12
COLUMNS = 200


def reference(x, lengths):
    return torch.where(torch.arange(COLUMNS)[None] < lengths[:, None], x, torch.zeros(())).sum(1)


def get_inputs():
    return [torch.randn(ROWS, COLUMNS), torch.randint(1, COLUMNS + 1, (ROWS,))]
"""


@pytest.mark.parametrize(("block", "verdict"), [("BLOCK", "no defect found"), ("BLOCK + 1", "cannot be built")])
def test_triton_compiles_a_kernel_for_sizes_that_indices_decide(tmp_path: Path, block: str, verdict: str) -> None:
    source = INDEXED.replace("tl.arange(0, BLOCK)", f"tl.arange(0, {block})")
    folder = published.write(tmp_path / "s", kernel__py=source, reference__py=INDEXED_TASK)
    record = audit.check(folder / "kernel.py", folder / "reference.py", tolerance=1e-4, device="emulated", seed=5)
    assert record.verdict.name == verdict, record.verdict


TWICE = """#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>

__global__ void twice(const float* x, float* y, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
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
        ("n / 150000, 128", "", "wrong", "4 of 4 blocks run; 599,488 of 600,000 elements are never written"),
        (LARGE, "", "wrong", "100000 bytes of dynamic shared memory asked for, 49152 allowed"),
        (LARGE, WANTED, "undecided", "a newer GPU allows that much"),
        (LARGE, LOOKED_UP, "undecided", "a newer GPU allows that much"),
    ],
)
def test_a_launch_that_no_gpu_takes_is_wrong(tmp_path: Path, launch: str, limit: str, verdict: str, words: str) -> None:
    record = audited(tmp_path, launch, limit)
    assert record.verdict.name == verdict, record.verdict
    assert any(words in one.summary for one in record.findings if one.target == "claimed"), record.findings


BESIDE_STATIC = """#include <torch/extension.h>

template <int FLOATS>
__global__ void twice(const float* x, float* y) {
    __shared__ float held[FLOATS];
    held[threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = 2 * held[threadIdx.x];
}

template <int FLOATS>
void launched(torch::Tensor x, torch::Tensor y, int dynamic, int attribute) {
    if (attribute) cudaFuncSetAttribute(twice<FLOATS>, cudaFuncAttributeMaxDynamicSharedMemorySize, attribute);
    twice<FLOATS><<<1, 128, dynamic>>>(x.data_ptr<float>(), y.data_ptr<float>());
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("of_512", &launched<512>);
    m.def("of_516", &launched<516>);
    m.def("of_528", &launched<528>);
    m.def("of_2048", &launched<2048>);
}
"""


def test_an_attribute_leaves_room_for_static_shared_memory(tmp_path: Path) -> None:
    """Each launch ends so on an H200, where the attribute bounds the dynamic part alone."""
    asked = [
        ("of_512", 47_104, 0), ("of_516", 47_104, 0), ("of_528", 60_000, 60_000), ("of_2048", 45_056, 45_056),
        ("of_528", 60_064, 60_000),
    ]  # fmt: skip
    (tmp_path / "k.cu").write_text(BESIDE_STATIC, encoding="utf-8")
    code = f"""answer = []
for name, dynamic, attribute in {asked}:
    x, y = torch.ones(128), torch.zeros(128)
    functions[name](x, y, dynamic, attribute)
    answer.append((y.tolist() == [2.0] * 128, [one["kind"] for one in runtime.reports()]))
    runtime.reset()
"""
    runs, refused = [True, []], [False, ["launch-refused"]]
    assert run(build(tmp_path / "k.cu"), code) == [runs, refused, runs, runs, refused]


def audited(tmp_path: Path, launch: str, limit: str) -> Record:
    """Audit a kernel that doubles 600,000 numbers, with that launch."""
    text = TWICE.replace("LAUNCH", launch).replace("LIMIT", limit)
    task = TASK.replace("N = 72\nK = 8192", "N = 600000").replace("N, K", "N").replace("x.sum(1)", "2 * x")
    folder = published.write(tmp_path / "s", twice__cu=text, task__py=task)
    return audit.check(folder / "twice.cu", folder / "task.py", tolerance=1e-4, device="emulated", seed=5)
