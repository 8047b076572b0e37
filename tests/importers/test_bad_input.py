"""What strangers give: each is one sentence that names the file and the place, and nothing is written."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from audit.apps import cli
from audit.claims import importers
from audit.claims.importers import writer
from audit.claims.importers.facts import Given
from audit.claims.importers.material import DEEPEST, Material
from audit.model import untrusted
from audit.model.errors import BadInput
from tests.importers import published
from tests.importers.published import DEFINITION, FORMATS, SOL_DEFINITION, SOL_WORKLOAD, SOLUTION_JSON, WORKLOAD


def refused(folder: Path, **given: Any) -> str:
    with pytest.raises(BadInput) as error:
        importers.read([folder], given=Given(**given))
    assert "\n" not in str(error.value)
    return str(error.value)


def with_files(folder: Path, name: str, **files: Any) -> Path:
    return published.write(folder, **(FORMATS[name] | files))


def test_a_python_file_without_a_known_function_says_which_it_needs(tmp_path: Path) -> None:
    kernel = published.PLAIN_KERNEL.replace("def kernel", "def solve")
    said = refused(published.write(tmp_path, scaled__py=kernel, reference__py=published.REFERENCE))
    assert "a .py needs a function named `kernel` (or `custom_kernel`, or a class `ModelNew`)" in said
    assert "a file with `reference` and `get_inputs`; name one with audit import --format: " in said
    assert "a .py needs" not in refused(published.write(tmp_path / "text", a__txt="nothing"))


def test_a_source_of_a_hundred_megabytes(tmp_path: Path) -> None:
    folder = with_files(tmp_path, "kernelbench")
    with (folder / "solution.py").open("wb") as file:
        file.truncate(100 << 20)
    assert "solution.py: 104,857,600 bytes; at most 4,000,000 are read" in refused(folder)


def test_a_cell_with_a_source_of_many_megabytes(tmp_path: Path) -> None:
    row = published.CUDA_L1_ROW | {"custom_code": "#" * 4_000_001}
    (tmp_path / "a100.jsonl").write_text(published.lines(row))
    assert "a100.jsonl row 1 column custom_code: a source of 4,000,001 bytes" in refused(tmp_path)


def test_a_bomb_beside_a_claim_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gzip

    monkeypatch.setattr(untrusted, "RATIO_FROM_BYTES", 1 << 20)
    (tmp_path / "level_1.jsonl.gz").write_bytes(gzip.compress(b'{"CUDA_Code": "' + b"0" * (8 << 20)))
    assert "grows past" in refused(tmp_path)


def test_half_of_a_surrogate_pair(tmp_path: Path) -> None:
    broken = DEFINITION | {"reference": "\ud800"}
    folder = with_files(tmp_path, "flashinfer_bench", definition__json=broken)
    assert "half of a surrogate pair in a text, which is no Unicode" in refused(folder)


def test_an_archive_of_files_is_not_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "claim.zip", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("../solution.py", "0" * 1_000_000)
    assert "claim.zip: an archive of files; unpack it and name the folder" in refused(tmp_path / "claim.zip")


@pytest.mark.parametrize("path", ["../../evil.cu", "/etc/passwd", "a/../../b.cu", "C:\\evil.cu", "..", "", "."])
def test_a_path_that_leads_out_of_the_folder(path: str, tmp_path: Path) -> None:
    solution = SOLUTION_JSON | {"sources": [{"path": path, "content": "x"}]}
    result = refused(with_files(tmp_path, "flashinfer_bench", solution__json=solution))
    assert "solution.json: sources 1: path" in result


def test_a_link_that_leads_out_of_the_folder(tmp_path: Path) -> None:
    folder = with_files(tmp_path / "claim", "bare_cu")
    (tmp_path / "secret.py").write_text("def reference(): ...\n")
    (folder / "linked.py").symlink_to(tmp_path / "secret.py")
    assert "linked.py leads out of the folder" in refused(folder)


def test_a_folder_of_too_many_files_and_a_path_too_deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path.joinpath(*"abcdef"[: DEEPEST + 1])
    deep.mkdir(parents=True)
    (deep / "kernel.cu").write_text("x")
    assert Material([tmp_path]).files == {}
    monkeypatch.setattr("audit.claims.importers.material.MOST_FILES", 1)
    assert "more than 1 files; name the files" in refused(with_files(tmp_path, "kernelbench"))


@pytest.mark.parametrize(
    ("name", "files", "text"),
    [
        ("kernelbench", {"solution__py": "class ModelNew(:\n"}, "solution.py: line 1: not valid Python"),
        ("kernelbench", {"solution__py": "x = " + "(" * 300}, "solution.py: line 1: not valid Python"),
        ("kernelbench", {"solution__py": "class ModelNew: pass\nx = '\0'"}, "holds a NUL character"),
        ("kernelbench", {"other__py": published.SOLUTION}, "2 of (other.py, solution.py) solution"),
        ("kernelbench", {"other__py": published.TASK}, "2 of (other.py, task.py) task"),
        ("robust_kbench", {"config_forward__json": "[1"}, "line 1, column 3: broken JSON"),
        ("robust_kbench", {"config_forward__json": "[1]"}, "config_forward.json: no JSON object but list"),
        (
            "robust_kbench",
            {"config_forward__json": '{"single_input_configs": [{"rows": 1000000000000000000}]}'},
            "size rows is larger than 1,099,511,627,776",
        ),
        ("robust_kbench", {"other__cu": published.CU}, "2 of (forward.cu, other.cu) forward kernel"),
        ("popcorn", {"task__yml": "tests: [{a: 1"}, "task.yml: line 1: broken YAML"),
        ("popcorn", {"task__yml": "- 1"}, "task.yml: no YAML mapping but list"),
        ("popcorn", {"task__yml": "tests: [{rows: -3, seed: 1}]"}, "tests 1: rows = -3; a shape has positive integers"),
        ("popcorn", {"task__yml": "tests: [{rows: {a: 1}}]"}, "tests 1: rows = {'a': 1}; an option is a number"),
        ("popcorn", {"task__yml": "tests: [{rows: [[1]]}]"}, "tests 1: rows = [[1]]; an option is a number, a text"),
        ("popcorn", {"task__yml": "tests: [7]"}, "tests 1: no mapping but int"),
        ("bare_cu", {"other__cu": published.CU}, "2 of (other.cu, scaled.cu) .cu file"),
        ("bare_cu", {"scaled__cu": " \n"}, "the source of the kernel is empty"),
        ("cuda_l2", {"ratios__csv": 'm_n_k,"speed\r"up\r\n'}, "ratios.csv: no CSV ("),
        (
            "notebook",
            {"claim__ipynb": {"cells": [{"cell_type": "code", "source": 3}]}},
            "cell 1: its source is no text",
        ),
        ("notebook", {"claim__ipynb": published.notebook([("code", "x = 1")])}, "no cell holds a CUDA text"),
    ],
)
def test_files_that_are_not_what_they_should_be(name: str, files: dict[str, Any], text: str, tmp_path: Path) -> None:
    folder = with_files(tmp_path, name, **files)
    with pytest.raises(BadInput) as error:
        importers.read([folder], format_=name)
    assert text in str(error.value)


def axis(stated: Any, name: str = "features") -> dict[str, Any]:
    return {"definition__json": SOL_DEFINITION | {"axes": {**SOL_DEFINITION["axes"], name: stated}}}


@pytest.mark.parametrize(
    ("files", "text"),
    [
        ({"definition__json": DEFINITION | {"axes": 3}}, "definition.json: axes: no JSON object but int"),
        (axis({"type": "const", "value": -1}), "axis features: value -1 is no positive integer"),
        (axis({"type": "expr", "expression": "__import__('os')"}), "expression holds Call; known:"),
        (axis({"type": "expr", "expression": "half @ half"}), "expression holds MatMult; known: + - * / // % **"),
        (axis({"type": "expr", "expression": "features + 1"}), "made of an axis that is not there, or of itself"),
        (axis({"type": "expr", "expression": "(("}), "expression cannot be read"),
        (axis({"type": "var"}, "a b"), "an axis has a plain name"),
        ({"definition__json": DEFINITION | {"inputs": {"x y": {}}}}, "inputs: x y: no plain name"),
        ({"definition__json": DEFINITION | {"outputs": {}}}, "definition.json: outputs: none; a definition names"),
        ({"definition__json": DEFINITION | {"reference": None}}, "definition.json: reference: no source text"),
        ({"definition__json": DEFINITION | {"reference": "def run("}}, "reference: line 1: not valid Python"),
        ({"workload__jsonl": published.lines(WORKLOAD | {"axes": {"rows": -4}})}, "axes: rows = -4 is no positive"),
        ({"second__json": SOLUTION_JSON}, "2 solutions (second.json, solution.json)"),
        ({"traces__jsonl": published.lines(
            published.TRACE | {"evaluation": {"performance": {"latency_ms": -1}}})}, "latency_ms = -1 is no time"),
    ],
)  # fmt: skip
def test_definitions_that_are_not_what_they_should_be(files: dict[str, Any], text: str, tmp_path: Path) -> None:
    assert text in refused(with_files(tmp_path, "flashinfer_bench", **files))


@pytest.mark.parametrize(
    ("name", "changed", "key"),
    [
        ("flashinfer_bench", {"inputs": {"x": {"type": "safetensors", "path": "/data/x"}}}, "reference.py INPUTS"),
        ("sol_execbench", {"tolerance": {"max_rtol": 0}}, "tolerance"),
    ],
)
def test_what_a_workload_does_not_tell_is_missing(name: str, changed: Any, key: str, tmp_path: Path) -> None:
    files: dict[str, Any] = {"workload__jsonl": published.lines(SOL_WORKLOAD | changed)}
    if name == "flashinfer_bench":
        files = {"traces__jsonl": published.lines({"definition": DEFINITION["name"], "workload": WORKLOAD | changed})}
    found = importers.read([with_files(tmp_path, name, **files)])
    assert key in [one.key for one in found.missing if one.essential]


@pytest.mark.parametrize(
    ("changed", "key"),
    [
        ({"spec": SOLUTION_JSON["spec"] | {"binding": "tvm-ffi"}}, "variant"),
        ({"spec": SOLUTION_JSON["spec"] | {"entry_point": "other.cu::run"}}, "variant"),
        ({"sources": [*SOLUTION_JSON["sources"], {"path": "more.py", "content": "x"}]}, "src_kernel.cu"),
    ],
)
def test_what_a_solution_needs_beyond_the_audit_is_missing(changed: Any, key: str, tmp_path: Path) -> None:
    found = importers.read([with_files(tmp_path, "flashinfer_bench", solution__json=SOLUTION_JSON | changed)])
    assert key in [one.key for one in found.missing if one.essential]


def test_what_is_no_claim_lists_the_formats(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    result = refused(tmp_path)
    assert all(name in result for name in importers.IMPORTERS)


def test_a_missing_path_and_a_bad_select(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["import", str(tmp_path / "absent")]) == 2
    assert cli.main(["import", str(tmp_path), "--select", "Task"]) == 2
    result = capsys.readouterr().err
    assert "No such file" in result
    assert "--select Task: write COLUMN=VALUE" in result
    assert "Traceback" not in result


def test_texts_of_strangers_cannot_leave_their_place_in_claim_toml(tmp_path: Path) -> None:
    row = published.ARCHIVE_ROW | {"Op_Name": 'x"\n[tolerance]\nrelative = 1.0\n#', "Kernel_Name": "\\\x00\x7f\u2028"}
    (tmp_path / "rows.json").write_text(json.dumps([row]))
    folder = writer.write(importers.read([tmp_path / "rows.json"]), tmp_path / "claim")
    import tomllib

    text = (folder / "claim.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["tolerance"]["relative"] == 1e-2
    assert writer.quoted('a"\n\\') in ('"a\\"\\u000a\\\\"',)
