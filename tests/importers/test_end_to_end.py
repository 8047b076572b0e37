"""Imported claims, audited: a sound KernelBench pair passes, an archive row with a race and the first claim fail."""

from __future__ import annotations

from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli
from audit.model import Record, store
from tests.importers import published

pytestmark = pytest.mark.audits

CLEARING = "contract agreement order coverage inherited inputs_intact memory_access kernels_ran".split()


def audited(source: Path, folder: Path) -> Record:
    assert cli.main(["check", str(source), "--device", "emulated", "--out", str(folder / "out")]) == 0
    return store.read(folder / "out" / "results" / "record.json")


def outcomes(record: Record) -> dict[str, str]:
    return {one.probe: one.outcome for one in record.findings if one.target == "claimed" and one.grade != "hint"}


def test_a_sound_kernelbench_solution_passes(tmp_path: Path) -> None:
    record = audited(published.write(tmp_path / "source", **published.FORMATS["kernelbench"]), tmp_path)
    found = outcomes(record)
    assert {probe: found[probe] for probe in CLEARING} == dict.fromkeys(CLEARING, "pass")
    assert record.verdict.name == "no defect found"
    assert any("a time" in text for text in record.verdict.missing)
    assert {source.file for source in record.claim.sources} >= {"original/task.py", "original/solution.py"}
    assert (tmp_path / "out" / "results" / "report.html").exists()


def test_where_no_kernel_runs_at_the_claimed_shape_the_result_there_decides(tmp_path: Path) -> None:
    launch, else_ = "scale<<<", " else y = torch::relu(x * w);"
    text = published.CU.replace(f"    {launch}", f"    if (count < 0) {launch}").replace(
        "x.size(1));", f"x.size(1));{else_}"
    )
    task = published.REFERENCE.replace("4096", "65536")
    record = audited(published.write(tmp_path / "source", scaled__cu=text, task__py=task), tmp_path)
    assert record.verdict.name == "overstated"
    assert outcomes(record)["claimed_blocks"] == "pass"


@pytest.mark.parametrize(("compares", "verdict"), [("", "no defect found"), (".dtype == torch.float64", "wrong")])
def test_a_float32_result_beside_a_float64_reference_is_as_the_check_takes_it(
    compares: str, verdict: str, tmp_path: Path
) -> None:
    reference = published.POPCORN_REFERENCE.replace("relu(x * w)", "relu(x * w).double()")
    utils = UTILS.replace("TAKEN", f"output{compares}" if compares else "True")
    files = published.FORMATS["popcorn"] | {"reference__py": reference, "utils__py": utils}
    record = audited(published.write(tmp_path / "source", **files), tmp_path)
    assert record.verdict.name == verdict
    assert outcomes(record)["contract"] == ("fail" if compares else "pass")


def test_no_tensor_is_no_result_of_any_dtype(tmp_path: Path) -> None:
    changed = {
        "submission__py": "def custom_kernel(data):\n    return 3\n",
        "utils__py": UTILS.replace("TAKEN", "True"),
    }
    record = audited(published.write(tmp_path / "source", **(published.FORMATS["popcorn"] | changed)), tmp_path)
    assert record.claim.statement.harness.any_dtype
    assert record.verdict.name == "wrong"
    assert "no tensor but int" in record.verdict.reasons[0]


def test_a_float32_destination_beside_a_float64_reference_is_taken(tmp_path: Path) -> None:
    files = {one: text.replace("x, w = data", "x, w, y = data") for one, text in published.FORMATS["popcorn"].items()}
    reference = files["reference__py"].replace("relu(x * w)", "relu(x * w).double()")
    made = 'return x, torch.randn(features, device="cuda", generator=gen)'
    assert made in reference
    reference = reference.replace(made, made + ", torch.empty_like(x)")
    submission = files["submission__py"].replace("return module.scaled(x, w)", "return y.copy_(module.scaled(x, w))")
    changed = {"reference__py": reference, "submission__py": submission, "utils__py": UTILS.replace("TAKEN", "True")}
    record = audited(published.write(tmp_path / "source", **(files | changed)), tmp_path)
    assert record.claim.statement.harness.destination == 2 and record.claim.statement.harness.any_dtype
    assert outcomes(record)["contract"] == "pass"
    assert record.verdict.name == "no defect found"


UTILS = """import torch


class DeterministicContext:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def make_match_reference(reference, rtol, atol):
    def check(data, output):
        return TAKEN and bool((torch.abs(output - reference(data)) <= atol + rtol * torch.abs(reference(data))).all())

    return check
"""
ROWS = """#include <torch/extension.h>

__global__ void divided(const float* x, float* y, int columns) {
    extern __shared__ float sums[];
    float sum = 0.0f;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += fabsf(x[blockIdx.x * columns + c]);
    for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < blockDim.x / 32) {  // a whole warp of a block of 1,024 threads alone
        sum = sums[threadIdx.x];
        for (int step = 16; step; step /= 2) sum += __shfl_down_sync(0xffffffff, sum, step);
        if (threadIdx.x == 0) sums[0] = sum;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < columns; c += blockDim.x)
        y[blockIdx.x * columns + c] = x[blockIdx.x * columns + c] / sums[0];
}

torch::Tensor forward(torch::Tensor x) {
    auto y = torch::empty_like(x);
    int columns = x.size(1), threads = THREADS;
    divided<<<x.size(0), threads, threads / 32 * sizeof(float)>>>(x.data_ptr<float>(), y.data_ptr<float>(), columns);
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "rows divided by their sums"); }
"""
OF_ROWS = """import torch
import torch.nn as nn


def module_fn(x: torch.Tensor) -> torch.Tensor:
    return x / x.abs().sum(dim=1, keepdim=True)


class Model(nn.Module):
    def forward(self, x, fn=module_fn):
        return fn(x)


rows = 16
columns = 16384


def get_inputs():
    return [torch.randn(rows, columns)]


def get_init_inputs():
    return []
"""


@pytest.mark.parametrize(
    ("threads", "claimed"), [("columns / 4 < 1024 ? columns / 4 : 1024", False), ("columns < 1024 ? 1024 : 256", True)]
)
def test_a_race_with_a_block_that_the_claimed_shape_does_not_have_is_outside_the_claim(
    threads: str, claimed: bool, tmp_path: Path
) -> None:
    """The importer asks at 1,024 columns, where a quotient of 256 threads passes the number that the source names."""
    row = published.ARCHIVE_ROW | {"CUDA_Code": ROWS.replace("THREADS", threads), "PyTorch_Code_Functional": OF_ROWS}
    record = audited(published.write(tmp_path / "source", rows__jsonl=published.lines(row)), tmp_path)
    (found,) = (one for one in record.findings if one.probe == "memory_access" and one.target == "claimed")
    assert (found.grade, found.claimed) == ("undefined", claimed)
    assert ("with blocks of 256 x 1 x 1 threads; at the claimed shape" in found.summary) is not claimed
    assert record.verdict.name == ("undefined" if claimed else "no defect found")
    assert outcomes(record)["claimed_blocks"] == ("fail" if claimed else "pass"), "blocks of 1,024 threads are right"


def test_the_first_claim_in_its_original_form_is_failed(tmp_path: Path) -> None:
    """A notebook with a CUDA text, `load(...).forward`, do_bench cells and one comparison that came second."""
    text = (claims.KERNELS / "triangular_mm" / "claimed.cu").read_text(encoding="utf-8")
    cells = [
        "import torch\nfrom torch.utils.cpp_extension import load\nfrom triton.testing import do_bench",
        f'code = r"""{text}"""\nwith open(\'k.cu\', \'w\') as f:\n    f.write(code)',
        "cuda_fn = load(name='k', sources=['k.cu'], extra_cuda_cflags=['-O3', '--use_fast_math']).forward",
        "N = 512\nA = torch.randn(N, N, device='cuda').tril()\nB = torch.randn(N, N, device='cuda').tril()",
        "def torch_fn(A, B):\n    return torch.matmul(A, B).tril()",
        "print(do_bench(lambda: torch_fn(A, B)) / do_bench(lambda: cuda_fn(A, B)))",
        "print(torch.allclose(cuda_fn(A, B), torch_fn(A, B), rtol=1e-3, atol=1e-2))",
    ]
    document = published.notebook([("code", cell) for cell in cells])
    record = audited(published.write(tmp_path / "source", claim__ipynb=document), tmp_path)
    assert record.verdict.name == "wrong"
    assert outcomes(record)["coverage"] == "fail"
    assert any("1 of 256 rows written" in reason for reason in record.verdict.reasons)
    assert record.claim.statement.protocol.flags == ("-O3", "--use_fast_math")


def test_a_kernel_without_a_task_is_not_audited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = published.write(tmp_path / "source", k__cu=published.CU)
    assert cli.main(["check", str(source), "--out", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert "no audit is possible: no task was found" in said
    assert "give --tolerance NUMBER" in said
    assert not (tmp_path / "out").exists()


TWO_OUTPUTS = """
import torch
ROWS, COLS = 37, 130
def reference(x):
    return torch.max(x, dim=1)
def get_inputs():
    return [torch.randn(ROWS, COLS)]
"""
ROW_MAXIMA = """#include <torch/extension.h>
__global__ void row_max(const float* x, float* most, int64_t* at, int rows, int cols) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    float best = x[row * cols];
    int64_t place = 0;
    for (int col = 1; col < cols; ++col)
        if (x[row * cols + col] > best) { best = x[row * cols + col]; place = col; }
    most[row] = best;
    if (row GUARD) at[row] = place;
}
std::tuple<torch::Tensor, torch::Tensor> maxima(torch::Tensor x) {
    auto most = torch::empty({x.size(0)}, x.options());
    auto at = torch::empty({x.size(0)}, x.options().dtype(torch::kLong));
    row_max<<<(x.size(0) + 63) / 64, 64>>>(
        x.data_ptr<float>(), most.data_ptr<float>(), at.data_ptr<int64_t>(), x.size(0), x.size(1));
    return {most, at};
}
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("maxima", &maxima, "the maximum of each row, and its place"); }
"""


def test_each_of_two_outputs_is_held_to_the_reference(tmp_path: Path) -> None:
    """Values and their places: two outputs of two types; right ones pass in `test_autograd.py`."""
    kernel = ROW_MAXIMA.replace("GUARD", "> 0")
    source = published.write(tmp_path / "source", kernel__cu=kernel, reference__py=TWO_OUTPUTS)
    command = ["check", str(source), "--tolerance", "1e-5", "--device", "emulated", "--out", str(tmp_path / "out")]
    assert cli.main(command) == 0
    record = store.read(tmp_path / "out" / "results" / "record.json")
    assert record.verdict.name == "wrong"
    assert outcomes(record)["coverage"] == "fail"
    wrong = next(one for one in record.findings if one.probe == "agreement")
    assert "of output 1 expected" in wrong.summary


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (
            "def reference(x):\n    return x\n",
            "ref.py has no `get_inputs`, which returns the arguments",
        ),
        ("def get_inputs():\n    return []\n", "ref.py has no function `reference`"),
        ("x = 1\n", "no task was found; give the file with the reference too"),
    ],
)
def test_what_the_reference_lacks_is_named(
    reference: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = published.write(tmp_path / "source", k__cu=published.CU, ref__py=reference)
    assert cli.main(["check", str(source), "--out", str(tmp_path / "out"), "--tolerance", "1e-4"]) == 2
    assert f"no audit is possible: {words}" in capsys.readouterr().err
