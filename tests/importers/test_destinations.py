"""The argument that a function which returns nothing writes its result into, by signature and reference."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from audit import claims
from audit.apps import cli
from audit.claims.importers import destinations
from audit.model import store
from tests.importers import published

pytestmark = pytest.mark.audits

VOID = published.KERNEL + published.WRITING + published.BOUND.format(name="forward")
INTO = published.REFERENCE.replace("def reference(x, w):", "def reference(x, w, y):").replace(
    "torch.randn(24)]", "torch.randn(24), torch.empty(rows, 24)]"
)


def function(text: str) -> ast.FunctionDef:
    (found,) = ast.parse(text).body
    assert isinstance(found, ast.FunctionDef)
    return found


@pytest.mark.parametrize(
    ("signature", "reference", "place"),
    [
        ("const torch::Tensor& x, torch::Tensor& out", "def r(x, out): return x", 1),
        ("torch::Tensor x, torch::Tensor o, int64_t n", "def r(x, o, n): return x", 1),
        ("torch::Tensor out, at::Tensor x, at::Tensor w", "def r(out, x, w): return x + w", 0),
        ("torch::Tensor x, torch::Tensor a, torch::Tensor out", "def r(x, a, out): return x", 2),
        ("const torch::Tensor x, torch::Tensor y", "def r(x, y): return x + y", 1),
        ("torch::Tensor x, torch::Tensor output", "def r(x, output): return x + output", 1),
        ("torch::Tensor x, torch::Tensor r", "def r(x, r):\n    r = x * 2\n    return r", 1),
        ("const float* a, float* b, int n", "def r(a, b, n): return a * n", 1),
        ("torch::Tensor x, torch::Tensor r", "def r(x, r):\n    r.copy_(x)\n    return r", 1),
        ("torch::Tensor r, torch::Tensor x", "def r(r, x):\n    r[:] = x + r[0]\n    return r", 0),
        ("torch::Tensor x, torch::Tensor r", "def r(x, r):\n    r[0] = x[0]\n    return r + x", None),
        ("torch::Tensor x, torch::Tensor y", "def r(x, y): return x + y", None),
        ("torch::Tensor x, torch::Tensor a, torch::Tensor b", "def r(x, a, b): return x", None),
        ("torch::Tensor x, torch::Tensor out", "def r(x): return x", None),
    ],
)
def test_one_argument_can_hold_the_result(signature: str, reference: str, place: int | None) -> None:
    source = f'void f({signature}) {{ }}\nPYBIND11_MODULE(X, m) {{ m.def("go", &f, "d"); }}\n'
    made = f'PYBIND11_MODULE(X, m) {{ m.def("go", []({signature}) {{ f(1); return; }}); }}\n'
    for text in (source, made):
        kernel = destinations.of_cuda(text, "go")
        assert kernel is not None
        assert destinations.chosen(kernel, function(reference)) == place


@pytest.mark.parametrize(
    "text",
    [
        'at::Tensor f(at::Tensor x) { return x; }\nPYBIND11_MODULE(X, m) { m.def("go", &f); }\n',
        'PYBIND11_MODULE(X, m) { m.def("go", [](at::Tensor x) { return x; }); }\n',
        'PYBIND11_MODULE(X, m) { m.def("go", [](at::Tensor x) -> at::Tensor { return g(x); }); }\n',
        'void f(at::Tensor x);\nPYBIND11_MODULE(X, m) { m.def("other", &f); }\n',
    ],
)
def test_what_returns_something_or_is_not_there_has_no_destination(text: str) -> None:
    assert destinations.of_cuda(text, "go") is None


def test_a_function_of_python_that_returns_nothing_is_seen() -> None:
    writes = function("def kernel(x, out):\n    def inner():\n        return 1\n    out.copy_(x)\n    return None\n")
    assert [one.name for one in destinations.of_python(writes) or []] == ["x", "out"]
    assert destinations.of_python(function("def kernel(x, out):\n    return out\n")) is None


def test_the_claim_states_the_destination_and_the_kernel_is_right(tmp_path: Path) -> None:
    source = published.write(tmp_path / "source", scaled__cu=VOID, reference__py=INTO)
    options = ["--device", "emulated", "--out", str(tmp_path / "out")]
    assert cli.main(["check", str(source), *options]) == 0
    folder = claims.load(str(tmp_path / "out" / "scaled"))
    assert folder.claim.harness.destination == 2
    record = store.read(next(tmp_path.glob("out/**/record.json")))
    assert not [one.summary for one in record.findings if one.fails_kernel]


def test_an_unclear_destination_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = "def kernel(x, w, a, b):\n    a.copy_(x * w)\n"
    unclear = INTO.replace("w, y)", "w, a, b)").replace("24)]", "24), torch.empty(rows, 24)]")
    source = published.write(tmp_path / "source", scaled__py=kernel, reference__py=unclear)
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim")]) == 0
    said = capsys.readouterr().out
    assert "missing: harness.destination: the function returns nothing, and it is not clear which argument" in said
    assert "destination = N under [harness]" in said


def test_without_the_destination_the_remedy_is_named_and_nothing_is_proved(tmp_path: Path) -> None:
    source = published.write(tmp_path / "source", scaled__cu=VOID, reference__py=INTO)
    assert cli.main(["import", str(source), "--to", str(tmp_path / "claim")]) == 0
    statement = tmp_path / "claim" / "claim.toml"
    statement.write_text(statement.read_text().replace("destination = 2\n", ""))
    assert cli.main(["run", str(statement.parent), "--device", "emulated", "--out", str(tmp_path / "out")]) == 0
    record = store.read(tmp_path / "out" / "record.json")
    assert record.verdict.name == "undecided"
    assert not [one.summary for one in record.findings if one.fails_kernel]
    assert len(record.verdict.missing) == 1
    assert "write destination = 2 under [harness] of claim.toml" in record.verdict.missing[0]
