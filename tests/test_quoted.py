"""The driver of the quoted sets: what can be timed, and how strata and verdicts are read."""

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
    yield {name: importlib.import_module(name) for name in ("quoted_cases", "quoted_ask", "quoted_pages")}
    for name in ("quoted_cases", "quoted_ask", "quoted_pages"):
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


def test_a_job_waits_for_memory_and_a_large_one_takes_a_whole_gpu(
    loaded: dict[str, ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1,3")
    gpus = loaded["quoted_ask"].Gpus(10.0)
    with gpus.one(99.0) as first, gpus.one(6.0) as second:
        assert {first, second} == {"1", "3"} and gpus._free == {first: 0.0, second: 4.0}
    assert gpus._free == {"1": 10.0, "3": 10.0}


@pytest.mark.parametrize(("outcome", "verdict"), [("finished", "no defect found"), ("cut", "no answer")])
def test_nothing_found_before_a_cut_is_no_answer(
    outcome: str, verdict: str, loaded: dict[str, ModuleType], tmp_path: Path
) -> None:
    state = {"outcome": outcome, "verdict": "no defect found", "reasons": ["right"], "missing": [], "hints": [],
             "device": "H100"}  # fmt: skip
    (tmp_path / "states").mkdir()
    (tmp_path / "states/stanford_softmax.json").write_text(json.dumps(state))
    assert loaded["quoted_pages"].found("stanford", "softmax", [tmp_path])["verdict"] == verdict
    assert loaded["quoted_pages"].found("stanford", "conv2d", [tmp_path]) == {}
