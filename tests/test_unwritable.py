"""Every command that writes says in one sentence that it cannot, and how to go on; exit code 2."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from audit.apps import cli, notebook
from audit.apps.notebook.shown import offer_folder
from audit.model import store
from audit.model.errors import BadInput

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "reports" / "library_call" / "emulated" / "record.json"
COMMANDS: dict[str, tuple[object, ...]] = {
    "run": ("run", "library_call", "--device", "emulated"),
    "report": ("report", RECORD),
    "bundle": ("bundle", RECORD),
    "compare": ("compare", RECORD),
    "lint": ("lint", ROOT / "reports" / "datasets" / "cuda_l1" / "cuda_l1_scores.csv"),
    "batch": ("batch", "library_call", "--device", "emulated"),
    "screening": ("batch", ROOT / "kernels", "--screen", "--device", "emulated"),
}


@pytest.fixture
def read_only(small_disk: Path) -> Path:
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    return small_disk


@pytest.fixture
def full(small_disk: Path) -> Path:
    """All but 8 kB of it taken."""
    (small_disk / "taken").write_bytes(bytes((60 << 20) - (8 << 10)))
    return small_disk


def one_sentence(capsys: pytest.CaptureFixture[str], place: Path, why: str) -> None:
    errors = capsys.readouterr().err
    assert errors.startswith(f"audit: {place}"), errors
    assert f"cannot be written ({why}); " in errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_a_read_only_folder(name: str, read_only: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = read_only / "out"
    assert cli.main([*map(str, COMMANDS[name]), "--out", str(out)]) == 2
    one_sentence(capsys, out, "Read-only file system")


@pytest.mark.parametrize("name", ["report", "bundle", "compare", "lint", "batch", "screening"])
def test_a_full_disk(name: str, full: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = full / "out"
    assert cli.main([*map(str, COMMANDS[name]), "--out", str(out)]) == 2
    one_sentence(capsys, out, "No space left on device")
    assert name != "bundle" or not list(full.glob("*out*")), "no half of a bundle"


def test_a_notebook_on_a_read_only_folder(read_only: Path) -> None:
    form = notebook.ClaimForm.read(claim="library_call", device="emulated", out=str(read_only / "out"))
    with pytest.raises(BadInput, match=r"cannot be written .*choose another folder"):
        notebook.start(form)
    with pytest.raises(BadInput, match=r"ladder\.csv: cannot be written"):
        notebook.ladder(store.read(RECORD), read_only)
    with pytest.raises(BadInput, match=r"out: cannot be written"):
        notebook.compare(notebook.CompareForm.read(records=str(RECORD), out=str(read_only / "out")))


def test_a_folder_that_cannot_be_packed(small_disk: Path) -> None:
    out = small_disk / "batch"
    out.mkdir()
    (out / "log").write_bytes(os.urandom(35 << 20))
    with pytest.raises(BadInput, match=r"batch\.zip: cannot be written \(No space left on device\)"):
        offer_folder(out, notebook.CompareForm.read(interactive=False))
    assert [path.name for path in small_disk.iterdir()] == ["batch"]
