"""`audit.check` from Python, and what `audit check` returns to a script: exit codes and one line of JSON."""

from __future__ import annotations

import functools
import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import audit
from audit.apps import check, cli
from audit.model import store
from audit.model.errors import BadInput
from audit.report import evidence
from audit.review import reach
from tests.importers import published

pytestmark = pytest.mark.audits

KERNEL = "import torch\n\n\ndef twice(x):\n    return x + x\n\n\ndef thrice(x):\n    return 3 * x\n"
TASK = """import torch

N = 300


def doubled(x):
    return 2 * x


def made():
    return [torch.randn(N)]
"""
FILES = {"scaled__cu": published.CU, "task__py": published.REFERENCE}
WRONG = published.CU.replace("if (i < count)", "if (2 * i < count)")


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[ModuleType]:
    """A module with kernels and one with their reference, as a test suite has them."""
    published.write(tmp_path / "mine", kernels_of_mine__py=KERNEL, task_of_mine__py=TASK)
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    return [import_module(name) for name in ("kernels_of_mine", "task_of_mine")]


def test_functions_are_audited_by_the_source_of_their_modules(
    modules: list[ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    kernels, task = modules
    right = audit.check(kernels.twice, task.doubled, task.made, tolerance=1e-6, device="emulated")
    wrong = audit.check(kernels.thrice, task.doubled, task.made, tolerance=1e-6, device="emulated")
    assert right.verdict.result is not None
    assert (right.verdict.result.state, wrong.verdict.name) == ("right", "wrong")
    assert capsys.readouterr().out == ""


def test_files_are_audited_and_the_report_is_kept_where_it_is_wanted(tmp_path: Path) -> None:
    folder = published.write(tmp_path / "s", **FILES)
    kernel, task, out = folder / "scaled.cu", str(folder / "task.py"), tmp_path / "out"
    record = audit.check(kernel, task, tolerance=1e-5, device="emulated", out=out, seed=3)
    assert record.verdict.name == "no defect found"
    assert (out / "results" / "report.html").is_file()
    with pytest.raises(BadInput, match="is there already"):
        audit.check(kernel, task, tolerance=1e-5, out=out)


def test_a_file_that_changed_between_two_checks_is_audited_into_the_next_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = published.write(tmp_path / "s", **FILES)
    monkeypatch.chdir(tmp_path)
    command = ["check", "s/scaled.cu", "s/task.py", "--tolerance", "1e-5", "--device", "emulated", "--formats", "md"]
    assert cli.main(command) == 0
    (folder / "scaled.cu").write_text(WRONG, encoding="utf-8")
    assert cli.main([*command, "--fail-on", "wrong"]) == 3
    names = [
        store.read(tmp_path / "out" / one / "results" / "record.json").verdict.name for one in ("scaled", "scaled_2")
    ]
    assert names == ["no defect found", "wrong"]


IN_ONE_BUILD = published.CU.replace(
    "if (i < count)",
    """__shared__ float word;
    if (threadIdx.x == 64) word = 1.0f;  // a race between warps
    int level = 3;
    float more = threadIdx.x > 64 && word == 1.0f ? 1.0f : 0.0f;
    if (__builtin_constant_p(level)) more = 1.0f;  // in optimised code alone
    if (i < count)""",
).replace("% features]", "% features] + more")


def test_undefined_behaviour_in_the_second_build_alone_is_evidence(tmp_path: Path) -> None:
    folder = published.write(tmp_path / "s", **FILES | {"scaled__cu": IN_ONE_BUILD})
    record = audit.check(folder / "scaled.cu", folder / "task.py", tolerance=1e-5, device="emulated")
    found = evidence.find(record, "agreement", "claimed")
    assert found is not None and (found.grade, record.verdict.name) == ("undefined", "undefined")
    assert "race-shared" in found.summary


def test_a_size_that_the_reference_lacks_is_named(tmp_path: Path) -> None:
    named = (
        TASK.replace("N = 300\n", "")
        .replace("def made():", "def inputs(shape, generator):")
        .replace("(N)", '(shape["N"])')
    )
    folder = published.write(
        tmp_path / "s", k__py=KERNEL.replace("twice", "kernel"), ref__py=named.replace("doubled", "reference")
    )
    with pytest.raises(BadInput, match="raised: KeyError: 'N'; the shape has no such size: M=8"):
        audit.check(folder / "k.py", folder / "ref.py", tolerance=1e-5, shape={"M": 8}, device="emulated")


WITH_TESTS = (
    KERNEL.replace("import torch\n", "import torch, audit\nimport pytest\n")
    + TASK.removeprefix("import torch\n")
    + """

@pytest.mark.parametrize("tolerance", [1e-6])
def test_twice(tolerance):
    assert audited(twice, tolerance)


def audited(kernel, tolerance):
    return audit.check(kernel, doubled, made, tolerance=tolerance).verdict.name == "no defect found"


if __name__ == "__main__":
    test_twice(1e-6)
"""
)


def test_a_module_that_tests_itself_is_audited_without_its_tests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published.write(tmp_path / "mine", tested_by_itself__py=WITH_TESTS)
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    one = import_module("tested_by_itself")
    monkeypatch.chdir(tmp_path)
    record = audit.check(one.twice, one.doubled, one.made, tolerance=1e-6, device="emulated", out="out")
    assert record.verdict.result is not None
    assert record.verdict.result.state == "right"
    command = (record.environment.command or "").split()
    assert command[:2] == ["audit", "run"] and Path(command[2], "claim.toml").is_file()
    assert not [found for found in record.findings if found.probe == "reach"]


def test_tests_are_dropped_and_lines_keep_their_numbers() -> None:
    text = check.without_tests(WITH_TESTS, needed={"twice", "doubled", "made"}, where="m.py")
    assert list(reach.reaches(text)) == []
    assert "audit" not in text and "pytest" not in text and "__main__" not in text
    before, after = (one.split("\n") for one in (WITH_TESTS, text))
    assert (after[0], after[1], len(after)) == ("import torch", "", len(before))
    assert after.index("def doubled(x):") == before.index("def doubled(x):")


@pytest.mark.parametrize(
    "text",
    [
        "import audit\n\n\ndef twice(x):\n    return audit.other(x)\n",
        "def twice(x):\n    import audit\n    return x + x\n",
        "from audit import run\n\n\ndef helper(x):\n    return run(x)\n\n\ndef twice(x):\n    return helper(x)\n",
        "import audit; N = 3\n\n\ndef twice(x):\n    return x + x\n",
    ],
)
def test_a_kernel_that_uses_the_kit_stays_as_it_is(text: str) -> None:
    assert check.without_tests(text, needed={"twice"}, where="m.py") == text
    assert list(reach.reaches(text))


def test_what_is_missing_is_named_by_its_argument(modules: list[ModuleType]) -> None:
    kernels, task = modules
    with pytest.raises(BadInput, match=r"give tolerance=NUMBER \(tolerance\)$"):
        audit.check(kernels.twice, task.doubled, task.made, device="emulated")
    with pytest.raises(BadInput, match=r"^shape=K: no size of this claim; known: N$"):
        audit.check(kernels.twice, task.doubled, task.made, tolerance=1e-6, shape={"K": 3})
    with pytest.raises(BadInput, match=r"^device=tpu: unknown; known: auto, cuda, emulated$"):
        audit.check(kernels.twice, task.doubled, task.made, tolerance=1e-6, device="tpu")


CALLABLES = """import functools

import torch


def scaled(factor, x):
    return factor * x


class Layer:
    def __call__(self, x):
        return scaled(2, x)

    def forward(self, x):
        return scaled(2, x)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = torch.nn.Parameter(torch.full((1,), 2.0), requires_grad=False)

    def forward(self, x):
        return self.factor * x


partial = functools.partial(scaled, 2)
layer = Layer()
net = Net()
twice = lambda x: 2 * x
"""
LAUNCHERS = """import torch
import triton
import triton.language as tl


@triton.jit
def doubling(x, y, n, block: tl.constexpr):
    i = tl.program_id(0) * block + tl.arange(0, block)
    tl.store(y + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)


def with_block(block):
    def launch(x):
        y = torch.empty_like(x)
        doubling[(triton.cdiv(x.numel(), block),)](x, y, x.numel(), block=block)
        return y

    return launch


launch = with_block(128)
for loop in [with_block(64)]:
    pass
"""


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[ModuleType, ModuleType, ModuleType]:
    """A module with callables of every kind, one with Triton's, and the task that they compute."""
    modules = {"callables_of_mine": CALLABLES, "launchers_of_mine": LAUNCHERS, "task_of_callables": TASK}
    published.write(tmp_path / "mine", **{f"{name}__py": text for name, text in modules.items()})
    monkeypatch.syspath_prepend(str(tmp_path / "mine"))
    for name in modules:
        monkeypatch.delitem(sys.modules, name, raising=False)
    callables, launchers, task = map(import_module, modules)
    return callables, launchers, task


@pytest.mark.parametrize("name", ["partial", "layer", "layer.forward", "net", "net.forward", "twice", "launch"])
def test_a_callable_is_audited_by_the_name_that_its_file_has_for_it(
    given: tuple[ModuleType, ModuleType, ModuleType], tmp_path: Path, name: str
) -> None:
    callables, launchers, task = given
    kernel = functools.reduce(getattr, name.split("."), launchers if name == "launch" else callables)
    out = tmp_path / "out"
    record = audit.check(kernel, task.doubled, task.made, tolerance=1e-6, device="emulated", out=out)
    assert record.verdict.result is not None and record.verdict.result.state == "right"
    ran = [one for one in record.findings if one.probe == "kernels_ran"]
    assert [one.outcome for one in ran] == ["pass" if name == "launch" else "fail"], "its own Triton kernel, or none"
    (source,) = out.glob("*/claimed.py")
    assert source.read_text(encoding="utf-8").endswith(f"\nkernel = {name}\n")


def test_a_function_of_an_extension_has_the_name_of_what_is_bound(
    given: tuple[ModuleType, ModuleType, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "import math\n\nextension = math\n"  # as `extension = load_inline(...)`
    published.write(tmp_path / "e", extension_of_mine__py=text)
    monkeypatch.syspath_prepend(str(tmp_path / "e"))
    kernel = import_module("extension_of_mine").extension.sqrt
    paths = check.files(kernel, given[2].doubled, given[2].made, tmp_path)
    assert paths[0].read_text(encoding="utf-8") == f"{text}\n\nkernel = extension.sqrt\n"


HERE = {"__name__": "__main__"}
exec("def typed(x):\n    return x + x\n", HERE)


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (lambda x: x, "the function <lambda>"),
        (len, "the builtin_function_or_method len, .* give the `.cu` that it is compiled from or that file"),
        ((3.5).hex, "the builtin_function_or_method hex"),
        (functools.partial(max, 1), "the partial"),
        (functools.wraps(published.write)(lambda *given: given), "the function write"),
        (HERE["typed"], "the function typed"),
        (type("Scripted", (), {"__call__": lambda _, x: x})(), "the Scripted"),
        (type("Scripted", (), {"call": lambda _, x: x})().call, "the method <lambda>"),
    ],
)
def test_a_callable_that_no_file_has_a_name_for_is_refused(kernel: object, kind: str, tmp_path: Path) -> None:
    told = f"^check: kernel is {kind}, .*write a function with `def` or `kernel = ...` at the top level of a file"
    if "give" in kind:
        told = f"^check: kernel is {kind}$"
    with pytest.raises(BadInput, match=told):
        audit.check(kernel, tmp_path / "task.py")  # type: ignore[arg-type]


def test_what_is_no_function_of_its_inputs_is_refused(given: tuple[ModuleType, ModuleType, ModuleType]) -> None:
    callables, launchers, task = given
    for kernel, words in (
        (
            callables.Net,
            "is the class Net; give a function that calls an object of it, or the file, in KernelBench's form",
        ),
        (launchers.doubling, "is a Triton kernel; give the Python function that launches it on a grid"),
        (
            launchers.loop,
            "is the function launch, which no Python file binds to a name",
        ),
    ):
        with pytest.raises(BadInput, match=f"^check: kernel {words}"):
            audit.check(kernel, task.doubled, task.made)


IN_A_CELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell()
shell.run_cell("def twice(x):\\n    return x + x")
shell.run_cell("import audit\\ntry:\\n    audit.check(twice, '')\\nexcept Exception as error:\\n    print(error)")
"""


def test_a_function_of_a_notebook_is_refused_with_what_to_write_there() -> None:
    done = subprocess.run([sys.executable, "-c", IN_A_CELL], capture_output=True, text=True, check=True)
    (line,) = done.stdout.splitlines()
    assert line.startswith("check: kernel is the function twice, which no Python file")
    assert line.endswith("a file (in a notebook, in a cell that begins with `%%writefile`), and give that file")


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"two files are called k\.py"):
        audit.check(tmp_path / "a" / "k.py", tmp_path / "b" / "k.py")


def test_the_package_alone_imports_next_to_nothing() -> None:
    heavy = "('torch', 'numpy', 'pydantic')"
    code = f"import sys, audit; print(sorted(name for name in sys.modules if name.split('.')[0] in {heavy}))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
    with pytest.raises(AttributeError, match="no attribute 'chekc'"):
        audit.chekc  # noqa: B018


def ran(folder: Path, out: Path, *more: str) -> int:
    arguments = ["check", str(folder), "--tolerance", "1e-5", "--device", "emulated", "--out", str(out)]
    return cli.main([*arguments, *more])


def test_a_script_reads_one_line_of_json_and_an_exit_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = published.write(tmp_path / "s", **FILES | {"scaled__cu": WRONG})
    assert ran(folder, tmp_path / "out", "--json", "--fail-on", "wrong,undefined") == 3
    printed = capsys.readouterr()
    (line,) = printed.out.splitlines()
    said = json.loads(line)
    assert (said["claim"], said["verdict"]["name"]) == ("scaled", "wrong")
    agreement = evidence.find(store.read(Path(said["record"])), "agreement", "claimed")
    assert agreement is not None
    worst = agreement.evidence["worst"]
    assert isinstance(worst, dict)
    wrong = np.array(worst["map"])
    assert (wrong[:32] == 0).all() and (wrong[32:] == 1).all(), "the second half of the rows is not written"
    assert [Path(file).suffix for file in said["reports"]] == [".md", ".html"]
    assert "verdict: wrong" in printed.err


def test_an_unknown_verdict_is_refused_before_anything_is_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ran(tmp_path, tmp_path / "out", "--fail-on", "wrog") == 2
    assert "--fail-on wrog: no verdict; did you mean wrong?; known: incomplete, wrong" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


OPERATORS = '''import torch
from torch.utils.cpp_extension import load_inline

CUDA = r"""
#include <ATen/ATen.h>
#include <torch/library.h>
__global__ void add(const float* a, const float* b, float* c, int n, float factor) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + factor * b[i];
}
at::Tensor added(const at::Tensor& a, const at::Tensor& b, double factor) {
  auto c = at::empty_like(a);
  int n = a.numel();
  add<<<(n + 255) / 256, 256>>>(a.data_ptr<float>(), b.data_ptr<float>(), c.data_ptr<float>(), n, factor);
  return c;
}
TORCH_LIBRARY(audited, m) { m.def("added(Tensor a, Tensor b, float factor=2.0) -> Tensor", &added); }
"""
load_inline("audited", cpp_sources="", cuda_sources=CUDA, is_python_module=False, no_implicit_headers=True)


def kernel(a, b):
    return torch.ops.audited.added(a, b)
'''
SUM = "import torch\n\nN = 3000\n\n\ndef reference(a, b):\n    return a + 2 * b\n\n\ndef get_inputs():\n"
SUM += "    return [torch.randn(N), torch.randn(N)]\n"


@pytest.mark.parametrize(("default", "verdict"), [("2.0", "no defect found"), ("3.0", "wrong")])
def test_a_function_that_torch_alone_registers_is_called_by_its_schema(tmp_path, default, verdict):
    (tmp_path / "k.py").write_text(OPERATORS.replace("factor=2.0", f"factor={default}"))
    (tmp_path / "ref.py").write_text(SUM)
    record = audit.check(tmp_path / "k.py", tmp_path / "ref.py", tolerance=1e-5, device="emulated")
    assert record.verdict.name == verdict
