"""The notebook is thin, clean and opens on a T4; papermill runs it and the sidecar record says what came out."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest

from audit.model import store

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
MAY_INSTALL = {"ninja", "papermill", "tree-sitter", "tree-sitter-cuda"}


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_format(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert len(notebook.cells) <= 25
    assert notebook.metadata["accelerator"] == "GPU"
    assert notebook.metadata["colab"]["gpuType"] == "T4"
    repository = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]["Repository"]
    assert (
        f"{repository.removeprefix('https://github.com/')}/blob/main/notebooks/{path.name}" in notebook.cells[0].source
    )
    assert notebook.cells[1].source.startswith("**Runtime → Run all**")
    for cell in code_cells(path):
        assert not cell.outputs
        assert cell.execution_count is None
        assert len(cell.source.splitlines()) <= 15
        assert "def " not in cell.source
        assert "__global__" not in cell.source
        assert " = " not in cell.source or "lambda" not in cell.source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_setup_adds_little_and_never_torch(path: Path) -> None:
    installs = [line for cell in code_cells(path) for line in cell.source.splitlines() if "pip install" in line]
    packages = {word for line in installs for word in line.split("install", 1)[1].split() if not word.startswith("-")}
    assert packages <= MAY_INSTALL
    assert not any(line.lstrip().startswith("!") and line.rstrip().endswith("&") for line in installs)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_one_parameters_cell_of_literals(path: Path) -> None:
    tagged = [cell for cell in code_cells(path) if "parameters" in cell.metadata.get("tags", [])]
    assert len(tagged) == 1
    for line in tagged[0].source.splitlines()[1:]:
        assert line.count("=") == 1, "papermill's inspector skips lines with a second ="
        (statement,) = ast.parse(line).body
        assert isinstance(statement, ast.Assign)
        ast.literal_eval(statement.value)


def papermill(tmp_path: Path, **parameters: object) -> subprocess.CompletedProcess[str]:
    values = tmp_path / "parameters.yaml"
    values.write_text(json.dumps({"interactive": False, **parameters}))
    command = ["papermill", "--no-progress-bar", "-f", str(values), "--cwd", str(ROOT / "notebooks")]
    return subprocess.run(
        [
            sys.executable,
            "-m",
            *command,
            str(ROOT / "notebooks" / "audit_claim.ipynb"),
            str(tmp_path / "executed.ipynb"),
        ],
        capture_output=True,
        text=True,
        check=False,
        env={key: value for key, value in os.environ.items() if not key.startswith("COLAB_")},
    )


def test_papermill_runs_the_audit_and_the_sidecar_is_final(tmp_path: Path) -> None:
    result = papermill(tmp_path, claim="triangular_mm", device="emulated", out=str(tmp_path / "out"))
    assert result.returncode == 0, result.stderr[-2000:]
    record = store.read(tmp_path / "out" / "record.json")
    assert record.verdict.name == "wrong"
    assert (tmp_path / "out.zip").stat().st_size > 10_000
    shown = json.dumps([cell.get("outputs", []) for cell in read(tmp_path / "executed.ipynb").cells])
    assert "Verdict: wrong" in shown
    assert "NOT MEASURED" in shown
    assert "image/png" in shown


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"claim": "no_such_claim", "device": "emulated"}, "known claims"),
        ({"claim": "triangular_mm", "device": "abacus"}, "parameter device"),
        ({"claim": 7, "device": "emulated"}, "parameter claim"),
    ],
)
def test_bad_parameters_end_in_one_sentence(tmp_path: Path, parameters: dict[str, object], words: str) -> None:
    result = papermill(tmp_path, **parameters)
    assert result.returncode != 0
    assert words in result.stderr
