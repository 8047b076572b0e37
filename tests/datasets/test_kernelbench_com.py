"""The figures about annotated runs of kernelbench.com: what counts as an answer, and which part each failure has."""

from __future__ import annotations

import csv
import importlib
import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
BENCH = ROOT / "bench" / "kernelbench_com"
PAGE = ROOT / "reports" / "datasets" / "kernelbench_com"
RECORD = ROOT / "reports" / "triangular_mm" / "h100" / "record.json"
CLEAN, ALIASED, BUG = "clean_01", "aliased_01", "bug_01"


@pytest.fixture
def scripts(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], ModuleType]]:
    """The scripts of the set by name; they leave no module behind."""
    monkeypatch.syspath_prepend(BENCH)
    before = set(sys.modules)
    yield importlib.import_module
    for name in set(sys.modules) - before:
        if str(getattr(sys.modules[name], "__file__", None) or "").startswith(str(BENCH)):
            del sys.modules[name]


@pytest.fixture
def annotated(scripts: Callable[[str], ModuleType]) -> ModuleType:
    return scripts("annotated")


@pytest.fixture
def tables(scripts: Callable[[str], ModuleType]) -> ModuleType:
    return scripts("kbc_results")


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


def test_an_aliased_result_of_a_clean_run_is_no_failure(annotated: ModuleType, tables: ModuleType) -> None:
    every = [run(annotated, CLEAN, "clean", "wrong"), run(annotated, ALIASED, "clean", "aliased result")]
    lines = tables.rates([*every, run(annotated, "c", "clean", "no answer")]).splitlines()
    assert any("*wrong* or *undefined*: 1 of 2," in line for line in lines)
    assert any("*aliased result*: 1 of 2," in line for line in lines)


def test_runs_without_an_answer_are_counted_by_their_outcome(annotated: ModuleType, tables: ModuleType) -> None:
    every = [
        run(annotated, CLEAN, "clean", "no defect found"),
        run(annotated, ALIASED, "clean", "no answer", "cut"),
        run(annotated, BUG, "bug", "no answer", "crashed"),
    ]
    table = tables.answers(every)
    assert "| **with an answer** | 1 | 0 | 0 |" in table
    assert f"| {annotated.WITHOUT['cut']} | 1 | 0 | 0 |" in table
    assert "| crashed | 0 | 0 | 1 |" in table


def test_a_failure_that_nobody_read_is_shown_as_such(annotated: ModuleType, tables: ModuleType) -> None:
    table = tables.readings([run(annotated, CLEAN, "clean", "wrong"), run(annotated, BUG, "bug", "no answer")])
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


def test_pages_follow_from_the_committed_rows(annotated: ModuleType, scripts: Callable[[str], ModuleType]) -> None:
    results, every = scripts("kbc_results"), annotated.runs({})
    assert [one.row for one in every] == annotated.rows(PAGE / "verdicts.csv")
    stale = [path.name for path, text in results.pages(every).items() if path.read_text(encoding="utf-8") != text]
    assert stale == [], "python bench/kernelbench_com/kbc_results.py writes them again"


def test_a_run_without_its_answer_is_seen_on_each_page(
    annotated: ModuleType, scripts: Callable[[str], ModuleType]
) -> None:
    results, every = scripts("kbc_results"), annotated.runs({})
    clean = next(one for one in every if one.row["annotation"] == "clean" and one.answered)
    others = [one for one in every if one is not clean]
    less = [*others, annotated.Run(clean.row | {"verdict": "no answer"})]
    same = [path.name for path, text in results.pages(less).items() if path.read_text(encoding="utf-8") == text]
    assert same == []
