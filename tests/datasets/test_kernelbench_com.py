"""The figures about annotated runs of kernelbench.com: what counts as an answer, and which part each failure has."""

from __future__ import annotations

import csv
import importlib.util
import json
import shutil
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "reports" / "datasets" / "kernelbench_com"
RECORD = ROOT / "reports" / "triangular_mm" / "h100" / "record.json"
CLEAN, ALIASED, BUG = "clean_01", "aliased_01", "bug_01"


@pytest.fixture
def annotated(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("annotated", ROOT / "bench" / "kernelbench_com" / "annotated.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def state(verdict: str, outcome: str = "finished") -> dict[str, Any]:
    return {"run": CLEAN, "outcome": outcome, "verdict": verdict, "reasons": ["r"], "missing": ["m"], "hints": []}


@pytest.mark.parametrize(
    ("outcome", "verdict", "counted"),
    [
        ("finished", "no defect found", "no defect found"),
        ("cut", "no defect found", "no answer"),
        ("cut", "vacuous", "no answer"),
        ("cut", "wrong", "wrong"),
        ("cut", "aliased result", "aliased result"),
        ("finished", "undecided", "no answer"),
        ("bad input", "", "no answer"),
    ],
)
def test_a_job_that_was_cut_counts_by_what_was_proved(
    annotated: ModuleType, outcome: str, verdict: str, counted: str
) -> None:
    assert annotated.verdict(state(verdict, outcome)) == counted


def run(annotated: ModuleType, name: str, annotation: str, verdict: str, outcome: str = "finished") -> Any:
    row = {"run": name, "annotation": annotation, "verdict": verdict, "outcome": outcome}
    return annotated.Run(row | {"kind": "", "due": "", "hints": ""})


def test_an_aliased_result_of_a_clean_run_is_no_failure(annotated: ModuleType) -> None:
    every = [run(annotated, CLEAN, "clean", "wrong"), run(annotated, ALIASED, "clean", "aliased result")]
    lines = annotated.rates([*every, run(annotated, "c", "clean", "no answer")]).splitlines()
    assert any("*wrong* or *undefined*: 1 of 2," in line for line in lines)
    assert any("*aliased result*: 1 of 2," in line for line in lines)


def test_runs_without_an_answer_are_counted_by_their_outcome(annotated: ModuleType) -> None:
    every = [
        run(annotated, CLEAN, "clean", "no defect found"),
        run(annotated, ALIASED, "clean", "no answer", "cut"),
        run(annotated, BUG, "bug", "no answer", "crashed"),
    ]
    table = annotated.answers(every)
    assert "| **with an answer** | 1 | 0 | 0 |" in table
    assert f"| {annotated.WITHOUT['cut']} | 1 | 0 | 0 |" in table
    assert "| crashed | 0 | 0 | 1 |" in table


def test_a_failure_that_nobody_read_is_shown_as_such(annotated: ModuleType) -> None:
    table = annotated.readings([run(annotated, CLEAN, "clean", "wrong"), run(annotated, BUG, "bug", "no answer")])
    assert f"| `{CLEAN}` | clean | wrong | not read |" in table
    assert BUG not in table


def test_a_state_beside_its_record_is_judged_by_the_rules_of_today(annotated: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "states").mkdir()
    (tmp_path / "records" / "one").mkdir(parents=True)
    shutil.copy(RECORD, tmp_path / "records" / "one" / "record.json")
    for name in ("one", "two"):
        (tmp_path / "states" / f"{name}.json").write_text(json.dumps(state("no defect found")), encoding="utf-8")
    found = {one["verdict"] for one in annotated.states([tmp_path])[CLEAN]}
    assert found == {"wrong", "no defect found"}


def test_every_published_failure_was_read(annotated: ModuleType) -> None:
    with (PAGE / "verdicts.csv").open(newline="", encoding="utf-8") as file:
        decided = ("wrong", "undefined", "aliased result", "overstated")
        failed = {row["run"] for row in csv.DictReader(file) if row["verdict"] in decided}
    assert failed == {row["run"] for row in annotated.rows(PAGE / "readings.csv")}
