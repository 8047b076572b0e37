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
from audit.apps import check_sources, cli
from audit.apps.check import in_python
from audit.model import store
from audit.model.errors import BadInput
from audit.report import evidence
from audit.review import reach
from tests.importers import published

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
    text = check_sources.without_tests(WITH_TESTS, needed={"twice", "doubled", "made"}, where="m.py")
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
    assert check_sources.without_tests(text, needed={"twice"}, where="m.py") == text
    assert list(reach.reaches(text))


def test_what_is_missing_is_named_by_its_argument(modules: list[ModuleType]) -> None:
    kernels, task = modules
    with pytest.raises(BadInput, match=r"give tolerance=NUMBER$"):
        audit.check(kernels.twice, task.doubled, task.made, device="emulated")
    with pytest.raises(BadInput, match=r"^shape=K: no size of this claim; known: N$"):
        audit.check(kernels.twice, task.doubled, task.made, tolerance=1e-6, shape={"K": 3})
    assert in_python("pairs --shapes stays") == "pairs --shapes stays"


@pytest.mark.parametrize(
    ("kernel", "kind"),
    [
        (lambda x: x, "a lambda"),
        (len, "the built-in len"),
        ((3.5).hex, "the built-in hex"),
        (functools.partial(max, 1), "a functools.partial"),
        (functools.wraps(published.write)(lambda *given: given), "the function write inside"),
        (type("Scripted", (), {"__call__": lambda _, x: x})(), "an object of type Scripted"),
    ],
)
def test_a_callable_without_a_source_of_its_own_is_refused(kernel: object, kind: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=f"^check: kernel is {kind}.*write a function with `def` at the top level"):
        audit.check(kernel, tmp_path / "task.py")  # type: ignore[arg-type]


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
