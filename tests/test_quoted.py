"""The quoted sets: strata, what is called, and how verdicts are read."""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

BENCH = Path(__file__).parents[1] / "bench/quoted"


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, ModuleType]]:
    monkeypatch.syspath_prepend(str(BENCH))
    yield {name: importlib.import_module(name) for name in ("quoted_cases", "quoted_pages")}
    for name in ("quoted_cases", "quoted_pages"):
        monkeypatch.delitem(__import__("sys").modules, name)


def test_a_stratum_is_the_work_and_the_ratio_over_the_strongest_baseline(loaded: dict[str, ModuleType]) -> None:
    ratios = dict.fromkeys(loaded["quoted_cases"].BASELINES, "1.5")
    stratum = loaded["quoted_cases"]._stratum
    assert stratum("64_64_64", ratios) == "small, over 1.15"
    assert stratum("4096_4096_8192", ratios | {"cuBLAS-max": "0.9"}) == "large, slower"


def test_dicts_of_a_fresh_call_lose_what_a_call_leaves_in_them(loaded: dict[str, ModuleType]) -> None:
    space: dict[str, object] = {"custom_kernel": lambda data: data[1].setdefault("kept", len(data[1]))}
    exec(loaded["quoted_cases"].FRESH, space)
    weights: dict[str, int] = {"w": 1}
    entry = space["audited_entry"]
    assert callable(entry) and [entry(0, weights), entry(0, weights)] == [1, 1] and weights == {"w": 1}


@pytest.mark.parametrize(("outcome", "verdict"), [("finished", "no defect found"), ("cut", "not answered")])
def test_what_was_found_before_a_cut_is_no_answer(
    outcome: str, verdict: str, loaded: dict[str, ModuleType], tmp_path: Path
) -> None:
    state = {"outcome": outcome, "verdict": "no defect found", "reasons": ["right"], "missing": ["a time"], "hints": [],
             "device": "H100", "seconds": 229.6}  # fmt: skip
    (tmp_path / "states").mkdir()
    (tmp_path / "states/stanford_softmax.json").write_text(json.dumps(state))
    found = loaded["quoted_pages"].found("stanford", "softmax", [tmp_path])
    assert found["verdict"] == verdict
    assert found["evidence"] == ("right" if outcome == "finished" else "cut after 230 s; until then: right")
    assert loaded["quoted_pages"].found("stanford", "conv2d", [tmp_path]) == {}


def test_cases_that_were_not_asked_are_counted_and_have_no_share(loaded: dict[str, ModuleType]) -> None:
    pages, row = loaded["quoted_pages"], dict.fromkeys(("ratio_eager", "ratio_strongest", "doubt", "ms"), "")
    verdicts = ("no defect found", "not answered", "not asked", "not asked")
    every = [row | {"case": f"case_{index}", "verdict": verdict} for index, verdict in enumerate(verdicts)]
    assert "| not asked | 2 | - |" in pages.counts(every)
    assert "| no defect found | 1 | 100% (" in pages.counts(every)
    assert "2 more were not asked." in pages.cases(every) and "case_2" not in pages.cases(every)


def test_a_reading_of_a_case_without_failure_is_on_its_page(
    loaded: dict[str, ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = loaded["quoted_pages"]
    monkeypatch.setattr(pages, "ROOT", tmp_path)
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / pages.READINGS).write_text("case,judgement,defect\na,right,a note\n")
    every = [{"case": "a", "verdict": "no defect found"}, {"case": "b", "verdict": "no defect found"}]
    assert "| `a` | no defect found | right | a note |" in pages.readings("set", every)
    assert pages.readings("set", every[1:]) == "None."
