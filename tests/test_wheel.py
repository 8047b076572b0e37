"""What the wheel and the source distribution hold: an installed kit knows its claims and reads its own files."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from audit.model import store
from tests.test_reproduction import observed, printed, typed

pytestmark = pytest.mark.audits

ROOT = Path(__file__).resolve().parents[1]
FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "NOTICE")
BUILD = """
import sys
from setuptools import build_meta
folder = sys.argv[1]
build_meta.build_sdist(folder)
build_meta.build_wheel(folder)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with both, built without a network from a copy of the tree."""
    tree, made = tmp_path_factory.mktemp("tree"), tmp_path_factory.mktemp("dist")
    for name in ("audit", "kernels", "notebooks"):
        shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__", "out"))
    for name in FILES:
        shutil.copy(ROOT / name, tree / name)
    subprocess.run([sys.executable, "-c", BUILD, str(made)], cwd=tree, check=True, capture_output=True)
    return made


@pytest.fixture(scope="module")
def installed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def ran(installed: Path, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    command = [sys.executable, "-m", "audit", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


def test_an_installed_kit_lists_and_reviews_its_claims_in_an_empty_folder(installed: Path, tmp_path: Path) -> None:
    listed = ran(installed, tmp_path, "list")
    assert listed.returncode == 0
    assert "triangular_mm" in listed.stdout
    source = installed / "audit" / "bundled" / "kernels" / "triangular_mm" / "claimed.cu"
    reviewed = ran(installed, tmp_path, "review", str(source))
    assert reviewed.returncode == 0
    assert "line" in reviewed.stdout


def test_an_installed_kit_with_the_tree_out_of_sight_sees_what_an_audit_of_the_tree_saw(
    installed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = os.pathsep.join([str(installed), sysconfig.get_path("purelib")])
    environment = {**os.environ, "PYTHONPATH": paths}
    alone = [sys.executable, "-S"]  # no finder of an editable installation
    where = [*alone, "-c", "import audit; print(audit.__file__)"]
    imported = subprocess.run(where, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert Path(imported.stdout.strip()).is_relative_to(installed)
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    typed(here, "audit run diag_matmul --device emulated", monkeypatch)
    (found,) = here.rglob(store.RECORD)
    run, _ = printed(found.with_name("report.md"))
    assert run == f"audit run diag_matmul --device emulated --seed {store.read(found).environment.seeds[0]}"
    command = [*alone, "-m", *shlex.split(run), "--formats", "md,html,comment"]
    done = subprocess.run(command, cwd=there, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (again,) = there.rglob(store.RECORD)
    assert again.with_name("report.html").is_file()
    assert observed(store.read(again)) == observed(store.read(found))
    assert store.read(again).verdict == store.read(found).verdict


def test_an_installed_kit_without_claims_says_so(installed: Path, tmp_path: Path) -> None:
    other = tmp_path / "site"
    shutil.copytree(installed / "audit", other / "audit", ignore=shutil.ignore_patterns("bundled"))
    listed = ran(other, tmp_path, "list")
    assert listed.returncode == 2
    assert "no claims in" in listed.stderr


def test_both_hold_every_file_that_the_code_reads(built: Path, installed: Path) -> None:
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as archive:
        packed = {name.partition("/")[2] for name in archive.getnames()}
    ours = [path for path in (ROOT / "audit").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    claims = list((ROOT / "kernels").rglob("*.toml"))
    assert len(ours) > 400
    assert len(claims) > 20
    assert [str(path) for path in ours if not (installed / path.relative_to(ROOT)).is_file()] == []
    assert [str(path) for path in (*ours, *claims) if str(path.relative_to(ROOT)) not in packed] == []
    bundled = installed / "audit" / "bundled"
    assert [str(path) for path in claims if not (bundled / path.relative_to(ROOT)).is_file()] == []
    assert (bundled / "notebooks" / "audit_claim.ipynb").is_file()
