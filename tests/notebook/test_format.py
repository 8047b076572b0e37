"""Every notebook is thin, clean, opens on a T4, and says in its first line what it does and how long it takes."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import nbformat
import pytest

from audit import __version__, claims
from audit.apps import notebook
from audit.apps.notebook import maps
from audit.apps.notebook.form import LEAST_ROUNDS, MOST_ROUNDS, AuditForm, Form
from audit.apps.pages import tables
from audit.build.device import CHOICES
from audit.report.messages import LANGUAGES
from tests.conftest import some

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
NAMES = {"archive", "audit_claim", "batch", "compare_gpus", "explore", "ladder", "your_kernel"}
REPOSITORY = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Repository"]
FORMS = {
    "audit_claim": notebook.ClaimForm,
    "your_kernel": notebook.KernelForm,
    "batch": notebook.BatchForm,
    "compare_gpus": notebook.CompareForm,
    "explore": notebook.ExploreForm,
}
SECRETS = re.compile(r"token|userdata|drive\.mount|getpass|input\(|sys\.exit|%%capture|&\s*$", re.MULTILINE)


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def parameters(path: Path) -> dict[str, object]:
    """Names and defaults of the one cell tagged so; each line one assignment of a literal."""
    (tagged,) = [cell for cell in code_cells(path) if "parameters" in cell.metadata.get("tags", [])]
    assert tagged.metadata["cellView"] == "form"
    title, *lines = tagged.source.splitlines()
    assert title.startswith("# @title ")
    found = {}
    for line in lines:
        assert line.count("=") == 1, "papermill's inspector skips lines with a second ="
        assert "  # @param " in line
        (statement,) = ast.parse(line).body
        assert isinstance(statement, ast.Assign)
        (target,) = statement.targets
        assert isinstance(target, ast.Name)
        found[target.id] = ast.literal_eval(statement.value)
    return found


def options(name: str, parameter: str) -> list[str]:
    text = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
    found = re.search(rf'"{parameter} = .*? # @param (\[.*?\])', text)
    assert found is not None
    return list(json.loads(found[1].replace('\\"', '"')))


def test_there_are_these_notebooks() -> None:
    assert {path.stem for path in NOTEBOOKS} == NAMES


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_format(path: Path) -> None:
    own = read(path)
    nbformat.validate(own)
    assert len(own.cells) <= 25
    assert own.metadata["accelerator"] == "GPU"
    assert own.metadata["colab"] == {"gpuType": "T4", "provenance": [], "toc_visible": True}
    assert own.metadata["kernelspec"]["name"] == "python3"
    text = json.dumps(json.loads(path.read_text(encoding="utf-8")), indent=1, ensure_ascii=False) + "\n"
    assert path.read_text(encoding="utf-8") == text, "indent 1, no escapes, one newline at the end"
    place = f"{REPOSITORY.removeprefix('https://github.com/')}/blob/main/notebooks/{path.name}"
    assert own.cells[0].metadata["id"] == "view-in-github"
    assert place in own.cells[0].source


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_first_line(path: Path) -> None:
    text = read(path).cells[1].source
    assert text.startswith("**Runtime → Run all** (")
    assert "GPU" in text.splitlines()[0]
    assert text.splitlines()[1].startswith(tables.BEGIN)
    if path.stem in ("audit_claim", "batch", "your_kernel"):
        assert "use a throw-away machine, mount nothing, store no tokens" in text


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_cells_are_thin_and_clean(path: Path) -> None:
    for cell in some(code_cells(path)):
        assert not cell.outputs
        assert cell.execution_count is None
        assert len(cell.source.splitlines()) <= 16
        assert not SECRETS.search(cell.source)
        if not (path.stem == "your_kernel" and cell.source.startswith("%%writefile")):
            assert "def " not in cell.source
            assert "__global__" not in cell.source
            assert "lambda" not in cell.source


def test_every_notebook_is_set_up_by_the_same_cell() -> None:
    setups = {
        path.stem: next(cell.source for cell in code_cells(path) if cell.id == "setup").split("\n\nfrom audit")[0]
        for path in NOTEBOOKS
    }
    assert len(set(setups.values())) == 1, setups
    (setup,) = set(setups.values())
    assert f"for ref in v{__version__} main; do git clone -q --depth 1 --branch $$ref {REPOSITORY} " in setup
    everything = "".join(cell.source for path in NOTEBOOKS for cell in code_cells(path))
    assert everything.count("pip install") == len(NOTEBOOKS), "one file says what Colab installs"
    assert setup.count("requirements-colab.txt") == 1


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_form_is_the_parameters_cell_and_the_model_knows_it(path: Path) -> None:
    defaults = parameters(path)
    if path.stem in FORMS:
        form: type[Form] = FORMS[path.stem]
        assert set(defaults) == set(form.model_fields)
        form.read(**defaults)


def test_choices_of_the_forms_are_what_there_is() -> None:
    known = [name for name in claims.names() if claims.load(name).claim.claimed is not None]
    assert options("audit_claim", "claim") == known, "name every claim that has a claimed kernel"
    assert options("explore", "audit") == list(maps.records(ROOT / "reports"))
    sets = sorted(path.parent.name for path in (ROOT / "reports" / "datasets").glob("*/verdicts.csv"))
    assert options("archive", "collection") == sets
    for name in ("audit_claim", "batch", "your_kernel"):
        assert options(name, "device") == list(CHOICES)
        assert options(name, "language") == list(LANGUAGES)
    for name in ("audit_claim", "your_kernel"):
        text = (ROOT / "notebooks" / f"{name}.ipynb").read_text(encoding="utf-8")
        assert f'rounds = {LEAST_ROUNDS}  # @param {{type:\\"slider\\", min:{LEAST_ROUNDS}, max:{MOST_ROUNDS}, ' in text
    accepted = {name: AuditForm.model_fields[name].annotation for name in ("device", "language")}
    assert accepted["device"].__args__ == CHOICES  # type: ignore[union-attr]
    assert accepted["language"].__args__ == LANGUAGES  # type: ignore[union-attr]
