"""The queue of `bench/audits.py`: each case has one state, a cut one is asked again, and a GPU is shared by memory."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.small_claim import trimmed

pytestmark = pytest.mark.audits

SCRIPT = Path(__file__).parents[1] / "bench" / "audits.py"


@pytest.fixture
def audits(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(SCRIPT.parent)
    yield importlib.import_module("audits")
    monkeypatch.delitem(sys.modules, "audits")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with cases: a claim, a source that no importer takes, and the same claim alone."""
    trimmed("diag_matmul", tmp_path, ("claimed.py",))
    (tmp_path / "odd.txt").write_text("no kernel", encoding="utf-8")
    lines = [
        {"case": "whole", "sources": ["diag_matmul"], "seed": 7, "piece": 0, "about": {"run": "a"}},
        {"case": "odd", "sources": ["odd.txt"], "seed": 7, "piece": 0},
        {"case": "alone", "sources": ["diag_matmul"], "seed": 7},
    ]
    (tmp_path / "cases.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return tmp_path


def run(folder: Path, *more: str) -> dict[str, dict[str, Any]]:
    command = [sys.executable, str(SCRIPT), str(folder / "cases.jsonl"), str(folder / "out"), "--device", "emulated"]
    subprocess.run([*command, *more], check=True)
    return {path.stem: json.loads(path.read_text()) for path in (folder / "out" / "states").iterdir()}


def test_every_case_has_a_state_and_is_asked_once(folder: Path) -> None:
    first = run(folder, "--only", "whole", "odd")
    assert {name: one["outcome"] for name, one in first.items()} == {"whole": "finished", "odd": "bad input"}
    assert (first["whole"]["run"], first["whole"]["verdict"]) == ("a", "no defect found")
    assert "no known format of claim" in first["odd"]["reasons"][0]
    (folder / "odd.txt").unlink()
    assert run(folder, "--only", "whole", "odd") == first


def test_a_case_that_was_cut_is_asked_again(folder: Path) -> None:
    assert run(folder, "--only", "alone", "--limit", "0.2")["alone"]["outcome"] == "cut"
    assert run(folder, "--only", "alone")["alone"]["outcome"] == "finished"


def test_a_process_that_ends_by_itself_costs_one_case(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "broken").mkdir()
    (folder / "broken" / "sitecustomize.py").write_text("import sys\nif '--these' in sys.argv: sys.exit('gone')\n")
    monkeypatch.setenv("PYTHONPATH", str(folder / "broken"))
    found = run(folder, "--only", "whole", "odd")
    assert {one["outcome"] for one in found.values()} == {"crashed"}


def test_a_job_waits_for_memory_and_a_large_one_takes_a_whole_gpu(
    audits: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,3")
    gpus = audits.Gpus(10.0)
    with gpus.one(99.0) as first, gpus.one(6.0) as second:
        assert {first, second} == {"1", "3"} and gpus._free == {first: 0.0, second: 4.0}
    assert gpus._free == {"1": 10.0, "3": 10.0}


def test_times_need_a_gpu(folder: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError):
        run(folder, "--times")
