"""Each room imports only from its left; CONTRIBUTING.md has the same order."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import audit
from tests.conftest import some

ROOT = Path(audit.__file__).parent
ORDER = (
    "__init__ model review claims sandbox build run probes measure judge report lint "
    "record_writer device_run scheduler times repair audit apps __main__"
).split()
IN_RUN = (
    "__init__ messages calls references imported_task imported_functions inputs devices sessions timing processes"
).split()
MODULES = sorted(path for path in ROOT.rglob("*.py"))


def stage_of(path: Path, *, depth: int = 0) -> str:
    return path.relative_to(ROOT).parts[depth].removesuffix(".py")


def imported_modules(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module == "audit":
            names += [f"audit.{alias.name}" for alias in node.names if alias.name != "__version__"]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.append(node.module)
    return names


def imported_stages(path: Path, *, within: str = "audit.") -> set[str]:
    return {name.removeprefix(within).split(".")[0] for name in imported_modules(path) if name.startswith(within)}


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_to_the_left(path: Path) -> None:
    stage = stage_of(path)
    assert stage in ORDER, f"{stage} has no place in the order; give it one here and in CONTRIBUTING.md"
    wrong = {other for other in imported_stages(path) if ORDER.index(other) > ORDER.index(stage)}
    assert not wrong, f"{path.relative_to(ROOT)} imports from its right: {', '.join(sorted(wrong))}"


@pytest.mark.parametrize("path", some(path for path in MODULES if stage_of(path) == "run"), ids=lambda path: path.stem)
def test_imports_within_run_point_to_the_left(path: Path) -> None:
    stage = stage_of(path, depth=1)
    wrong = {other for other in imported_stages(path, within="audit.run.") if IN_RUN.index(other) > IN_RUN.index(stage)}
    assert not wrong, f"{path.relative_to(ROOT)} imports from its right: {', '.join(sorted(wrong))}"


def test_the_judges_process_never_imports_torch() -> None:
    code = "import sys, audit.apps.cli, audit.apps.notebook; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_fork_server_never_asks_for_a_gpu() -> None:
    """torch refuses CUDA in a process whose parent has counted the GPUs, which torch's extension builder does."""
    code = "import sys, audit.run.processes.fork_server; sys.exit('torch.utils.cpp_extension' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_contributing_names_the_same_order() -> None:
    text = (ROOT.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")
    for order in (ORDER, IN_RUN):
        stages = [name for name in order if not name.startswith("__")]
        assert " ".join(stages) in " ".join(text.split())
